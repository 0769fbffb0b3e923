import { type Client, DiscordjsErrorCodes, Events } from 'discord.js';
import { type BackOff, backOff } from '../domain/back-off.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import { reasonOf } from '../errors.ts';
import { type ConnectionOptions, makeClient } from './client.ts';
import { createGatewayState } from './gateway-state.ts';
import { createIdentifyQueue, type IdentifyLog } from './identify.ts';
import { createServedCommands, type ServedCommandsOptions } from './served-commands.ts';

/** Dependencies and callbacks of the gateway. */
export interface GatewayOptions<Services extends object> extends ConnectionOptions, ServedCommandsOptions<Services> {
  token: string;
  /** Discord accepted or refused the token. */
  onToken(accepted: boolean): void;
  /** When shards identified; several processes may share it. */
  identified: IdentifyLog;
}

/** The wait after a refused token. It is long because Discord bans IP addresses that send many invalid requests. */
const UNAUTHORIZED_WAIT_MS = 5 * MINUTE;
const CONNECTION_BACK_OFF: BackOff = { base: SECOND, max: MINUTE, jitter: 0.5 };

/** Connects to Discord and reconnects for as long as it runs. Faults are logged and never end the process. */
export function startGateway<Services extends object>(options: GatewayOptions<Services>) {
  const { log } = options;
  const identify = createIdentifyQueue(options.identified, options);
  const served = createServedCommands(options);
  const state = createGatewayState();
  const closing = new AbortController();
  let client: Client | null = null;
  let cancelRetry = (): void => undefined;
  let failures = 0;

  function connect(): void {
    const current = makeClient(options, identify);
    client = current;
    let isOver = false;
    const retry = (error: unknown) => {
      if (isOver || closing.signal.aborted) return;
      isOver = true;
      discard(current);
      cancelRetry = options.after(failed(error), connect);
    };
    current.on(Events.InteractionCreate, (interaction) => void served.handle(interaction));
    current.on(Events.ClientReady, (ready) => {
      const { shards } = ready.ws;
      state.setReady(shards);
      log.info({ guilds: ready.guilds.cache.size, shards: shards.size }, 'connected to Discord');
      void served.register(ready, () => client === ready && !closing.signal.aborted);
    });
    current.on(Events.ShardResume, online);
    // For a new session after the first one, the library emits only this event.
    current.on(Events.ShardReady, online);
    current.on(Events.ShardReconnecting, (shard) => {
      if (closing.signal.aborted) return;
      if (state.shards().get(shard)) log.warn({ shard }, 'connection to Discord lost');
      state.setShard(shard, false);
    });
    current.on(Events.ShardDisconnect, ({ code }) => retry(new GatewayClosed(code)));
    current.login(options.token).catch(retry);
  }

  function online(shard: number): void {
    failures = 0;
    log.debug({ shard }, 'shard connected');
    state.setShard(shard, true);
    options.onToken(true);
  }

  /** Records and logs that a connection failed; returns the milliseconds until the next attempt. */
  function failed(error: unknown): number {
    const isUnauthorized = isRefusal(error);
    const name = isUnauthorized ? 'unauthorized' : 'away';
    state.setLost(name);
    if (isUnauthorized) options.onToken(false);
    const waitMs = isUnauthorized ? UNAUTHORIZED_WAIT_MS : backOff(failures++, CONNECTION_BACK_OFF, options.random());
    const refused = 'Discord refuses the token; set the right DISCORD_TOKEN and restart';
    log.error({ reason: reasonOf(error), state: name, waitMs }, isUnauthorized ? refused : 'no connection to Discord');
    return waitMs;
  }

  connect();

  return {
    state: state.state,
    shards: state.shards,
    async close(): Promise<void> {
      closing.abort();
      cancelRetry();
      state.setClosed();
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

/** The gateway closed with a code after which the library does not reconnect. */
class GatewayClosed extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`The gateway closed with code ${code}.`);
    this.code = code;
  }
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
