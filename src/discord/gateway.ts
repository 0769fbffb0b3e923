import { type Client, DiscordjsErrorCodes, Events } from 'discord.js';
import { type BackOff, backOff, type Clock, MINUTE, SECOND } from '../domain/clock.ts';
import { reasonOf } from '../errors.ts';
import { type ClientOptions, makeClient } from './client.ts';
import { createInteractions, type InteractionOptions } from './interactions.ts';
import { keepRegistering } from './register.ts';

export interface GatewayOptions<Services extends object> extends ClientOptions, InteractionOptions<Services> {
  token: string;
  after: Clock['after'];
  random(): number;
}

/** `unauthorized`: Discord refuses the token. `away`: it cannot be reached. In both cases the bot tries again. */
export type GatewayState = 'connecting' | 'ready' | 'away' | 'unauthorized' | 'closed';

/** Long, because Discord bans IP addresses that send many invalid requests. */
const UNAUTHORIZED_WAIT_MS = 5 * MINUTE;
const CONNECTION_BACK_OFF: BackOff = { base: SECOND, max: MINUTE, jitter: 0.5 };

/** Reconnects for as long as it runs. Faults are logged and never end the process. */
export function startGateway<Services extends object>(options: GatewayOptions<Services>) {
  const { log } = options;
  const closing = new AbortController();
  const interactions = createInteractions(options);
  /** Of all shards together; while it is `ready`, each shard has its own state. */
  let state: GatewayState = 'connecting';
  const shards = new Map<number, boolean>();
  let client: Client | null = null;
  let cancelRetry = (): void => undefined;
  let failures = 0;

  function connect(): void {
    const current = makeClient(options);
    client = current;
    let isOver = false;
    const retry = (error: unknown) => {
      if (isOver || closing.signal.aborted) return;
      isOver = true;
      discard(current);
      cancelRetry = options.after(failed(error), connect);
    };
    current.on(Events.InteractionCreate, (interaction) => void interactions.dispatch(interaction));
    current.on(Events.ClientReady, (ready) => {
      const { shards: used } = ready.ws;
      // The previous client may have used more.
      for (const shard of shards.keys()) if (!used.has(shard)) shards.delete(shard);
      state = 'ready';
      log.info({ guilds: ready.guilds.cache.size, shards: used.size }, 'connected to Discord');
      const isInUse = () => client === ready && !closing.signal.aborted;
      void keepRegistering(ready, interactions, { ...options, isInUse });
    });
    current.on(Events.ShardResume, online);
    // For a new session after the first one, the library emits only this event.
    current.on(Events.ShardReady, online);
    current.on(Events.ShardReconnecting, (shard) => {
      if (closing.signal.aborted) return;
      if (shards.get(shard)) log.warn({ shard }, 'connection to Discord lost');
      shards.set(shard, false);
    });
    // The library does not reconnect after such a code.
    current.on(Events.ShardDisconnect, ({ code }) =>
      retry(Object.assign(new Error(`The gateway closed with code ${code}.`), { code })),
    );
    current.login(options.token).catch(retry);
  }

  function online(shard: number): void {
    failures = 0;
    log.debug({ shard }, 'shard connected');
    shards.set(shard, true);
  }

  /** Returns the milliseconds until the next attempt. */
  function failed(error: unknown): number {
    const isUnauthorized = isRefusal(error);
    state = isUnauthorized ? 'unauthorized' : 'away';
    for (const shard of shards.keys()) shards.set(shard, false);
    const waitMs = isUnauthorized ? UNAUTHORIZED_WAIT_MS : backOff(failures++, CONNECTION_BACK_OFF, options.random());
    const refused = 'Discord refuses the token; set the right DISCORD_TOKEN and restart';
    log.error({ reason: reasonOf(error), state, waitMs }, isUnauthorized ? refused : 'no connection to Discord');
    return waitMs;
  }

  connect();

  return {
    /** `ready` only while every shard is connected. */
    state: (): GatewayState => (state === 'ready' && [...shards.values()].includes(false) ? 'away' : state),
    shards: (): ReadonlyMap<number, boolean> => shards,
    async close(): Promise<void> {
      closing.abort();
      cancelRetry();
      state = 'closed';
      await client?.destroy().catch(() => {});
    },
  };
}

function discard(client: Client): void {
  client.removeAllListeners();
  // A discarded client may still emit errors, and an error without a listener would end the process.
  client.on(Events.Error, () => {});
  client.destroy().catch(() => {});
}

const AUTHENTICATION_FAILED = 4004;

function isRefusal(error: unknown): boolean {
  const { code, status, message } = (error ?? {}) as { code?: unknown; status?: unknown; message?: unknown };
  return (
    code === DiscordjsErrorCodes.TokenInvalid ||
    code === AUTHENTICATION_FAILED ||
    status === 401 ||
    message === 'Authentication failed'
  );
}
