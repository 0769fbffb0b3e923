import { SimpleShardingStrategy } from 'discord.js';

/** The part of a `ws` connection that is needed to end it. */
interface Connection {
  on(event: 'error', listener: () => void): void;
  terminate(): void;
}

/** Private fields of the library's shard. */
interface Shard {
  connection: Connection | null;
  destroy(options?: { recover?: number }): Promise<void>;
}

/**
 * Works around how discord.js closes a connection. It removes its listeners even while the connection is still opening.
 * That connection would stay open, and a network error on it would end the process, because nothing listens for it.
 * Whatever waited for a response on the connection then closes it a second time to reconnect, which would make the
 * first close wait forever.
 */
export class Sharding extends SimpleShardingStrategy {
  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds);
    const { shards } = this as unknown as { shards: Map<number, Shard> };
    for (const shard of shards.values()) {
      const destroy = shard.destroy.bind(shard);
      let closing: Connection | null = null;
      shard.destroy = async (options) => {
        const { connection } = shard;
        if (connection && connection === closing && options?.recover !== undefined) return;
        closing = connection;
        connection?.on('error', () => {});
        await destroy(options).finally(() => connection?.terminate());
      };
    }
  }
}
