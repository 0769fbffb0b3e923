import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { EndedResponse } from '../domain/inbox.ts';

/** The response to one delivery. */
export interface PendingResponse {
  /** It was written, or the connection is gone. */
  isOver: boolean;
  /** When its 200 was written completely; null: not yet. */
  ackedAt: number | null;
}

/** How long ended responses are collected before they are recorded: most are routed by then, and needed no more. */
const COLLECT_MS = 25;
/** Pause after they could not be recorded. */
const RETRY_MS = SECOND;
/** Longest wait for the last ones when the process stops, which leaves time for what else must end. */
const CLOSE_MS = SECOND / 2;
/** Most that wait to be recorded: while the database is away, the oldest are given up and count as never acknowledged. */
const MAX_ENDED = 10_000;

/** Records how responses ended, where another process may route their deliveries. */
export interface SharedAcks {
  record(responses: EndedResponse[]): Promise<void>;
  after: Clock['after'];
}

/**
 * Remembers for which stored deliveries the 200 was written completely: identity depends on it. `shared`: where other
 * processes route deliveries, too.
 */
export function createAcks(shared?: SharedAcks) {
  const responses = new Map<number, PendingResponse>();
  const ended: EndedResponse[] = [];
  const storing = new Set<Promise<unknown>>();
  let isRecording = false;
  let recording = Promise.resolve();
  let isClosing = false;
  let cancelTimer = (): void => undefined;

  function recordSoon(ms: number): void {
    if (isRecording || isClosing || !shared) return;
    isRecording = true;
    cancelTimer = shared.after(ms, () => {
      recording = record(shared);
    });
  }

  async function record(into: SharedAcks): Promise<void> {
    const wanted = ended.splice(0).filter(({ id }) => responses.has(id));
    const isDone =
      wanted.length === 0 ||
      (await into.record(wanted).then(
        () => true,
        () => false,
      ));
    isRecording = false;
    if (isDone) for (const { id } of wanted) responses.delete(id);
    else ended.unshift(...wanted);
    for (const { id } of ended.splice(0, Math.max(0, ended.length - MAX_ENDED))) responses.delete(id);
    if (ended.length > 0) recordSoon(isDone ? COLLECT_MS : RETRY_MS);
  }

  async function recordLast(into: SharedAcks): Promise<void> {
    // A late delivery's response ends before the delivery is stored.
    await Promise.allSettled(storing);
    await recording;
    await record(into);
  }

  return {
    /** Whether this process received a delivery and still knows about its response. */
    has: (id: number): boolean => responses.has(id),
    /** The response to a stored delivery is written, or its connection is gone. */
    ended(id: number, ackedAt: number | null): void {
      if (!shared) return;
      ended.push({ id, ackedAt });
      recordSoon(COLLECT_MS);
    },
    /** Deliveries are being stored; when that is done, their responses are tracked. */
    storing(done: Promise<unknown>): void {
      storing.add(done);
      const end = () => void storing.delete(done);
      done.then(end, end);
    },
    /** Resolves once the response to every delivery that the inbox shows now is tracked. */
    async tracked(): Promise<void> {
      await Promise.allSettled(storing);
    },
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
      return response.isOver ? response.ackedAt : undefined;
    },
    /** Forgets deliveries that were routed. */
    forget(ids: readonly number[]): void {
      for (const id of ids) responses.delete(id);
    },
    /** Records how the last responses ended, so that no other process waits for it; to be called when all have ended. */
    async close(): Promise<void> {
      isClosing = true;
      cancelTimer();
      if (shared) await inTime(recordLast(shared), CLOSE_MS, shared);
    },
  };
}

/** Remembers responses. */
export type Acks = ReturnType<typeof createAcks>;
