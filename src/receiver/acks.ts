/** The response to one delivery. */
export interface PendingResponse {
  /** It was written, or the connection is gone. */
  isOver: boolean;
  /** When its 200 was written completely; null: not yet. */
  answeredAt: number | null;
}

/** Remembers for which stored deliveries the 200 was written completely: identity depends on it. */
export function createAcks() {
  const responses = new Map<number, PendingResponse>();
  return {
    /** Remembers the response to a stored delivery until it is routed. */
    track(id: number, response: PendingResponse): void {
      responses.set(id, response);
    },
    /**
     * When a delivery's 200 was written completely; null: never; undefined: its response is still pending. Deliveries
     * of an earlier process count as never acknowledged.
     */
    ackedAt(id: number): number | null | undefined {
      const response = responses.get(id);
      if (!response) return null;
      return response.isOver ? response.answeredAt : undefined;
    },
    /** Forgets deliveries that were routed. */
    forget(ids: readonly number[]): void {
      for (const id of ids) responses.delete(id);
    },
  };
}

/** Remembers responses. */
export type Acks = ReturnType<typeof createAcks>;
