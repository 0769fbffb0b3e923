/** `unauthorized`: Discord refuses the token. `away`: Discord cannot be reached; in both cases the bot tries again. */
export type GatewayState = 'connecting' | 'ready' | 'away' | 'unauthorized' | 'closed';

/** Remembers the state of the connection to Discord, and of each of its shards. */
export function createGatewayState() {
  /** The state of all shards together; while it is `ready`, each shard has its own state. */
  let overall: GatewayState = 'connecting';
  /** Whether each shard is connected. */
  const shards = new Map<number, boolean>();

  return {
    /** `ready` only while every shard is connected. */
    state: (): GatewayState => (overall === 'ready' && [...shards.values()].includes(false) ? 'away' : overall),
    /** Whether each shard is connected, by its number; empty before the first connection. */
    shards: (): ReadonlyMap<number, boolean> => shards,
    setShard(shard: number, isConnected: boolean): void {
      shards.set(shard, isConnected);
    },
    /** Records that a client uses these shards. The previous one may have used more. */
    setReady(used: { has(shard: number): boolean }): void {
      for (const shard of shards.keys()) if (!used.has(shard)) shards.delete(shard);
      overall = 'ready';
    },
    /** Records that no shard is connected. */
    setLost(state: 'away' | 'unauthorized'): void {
      overall = state;
      for (const shard of shards.keys()) shards.set(shard, false);
    },
    setClosed(): void {
      overall = 'closed';
    },
  };
}
