import { type Client, DiscordjsErrorCodes, Events, type Interaction } from 'discord.js';
import { MINUTE } from '../domain/clock.ts';
import { installedHere } from './authority.ts';
import { type ConnectionOptions, makeClient, reasonOf } from './client.ts';
import { createDispatcher, type DispatcherOptions } from './interactions.ts';
import { registerCommands } from './register.ts';

/** `unauthorized`: Discord refuses the token. `away`: Discord cannot be reached; it is tried again either way. */
export type GatewayState = 'connecting' | 'ready' | 'away' | 'unauthorized' | 'closed';

/** What the gateway needs, and whom it tells. */
export interface GatewayOptions<Services extends object>
  extends ConnectionOptions,
    Omit<DispatcherOptions<Services>, 'commands'> {
  token: string;
  /** Loads the commands; called when Discord is connected. */
  commands(): Promise<DispatcherOptions<Services>['commands']>;
  /** Somebody uses the bot in a guild where it has its commands and is no member. */
  onGuildUsed(guildId: string): void;
  /** Discord takes the token, or refuses it. */
  onToken(accepted: boolean): void;
  /** From 0 to 1. */
  random(): number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = MINUTE;
/** A refused token is asked about rarely: Discord bans addresses that send many invalid requests. */
const UNAUTHORIZED_WAIT_MS = 5 * MINUTE;

/** Connects to Discord and stays so; whatever goes wrong is logged and tried again, and never ends the process. */
export function startGateway<Services extends object>(options: GatewayOptions<Services>) {
  const { log, random } = options;
  const closing = new AbortController();
  let state: GatewayState = 'connecting';
  let client: Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let sharding = false;

  let loading: ReturnType<typeof load> | undefined;
  const load = async () => {
    const commands = await options.commands();
    return { commands, dispatch: createDispatcher({ ...options, commands }) };
  };
  /** The commands, loaded when they are first needed: nobody can use them before the bot is connected. */
  const served = () => (loading ??= load());
  const answer = async (interaction: Interaction) => {
    if (interaction.inRawGuild() && installedHere(interaction)) options.onGuildUsed(interaction.guildId);
    // If they cannot be loaded, `keepRegistering` says so in the log, again and again.
    const loaded = await served().catch(() => null);
    await loaded?.dispatch(interaction);
  };

  function connect(): void {
    const current = makeClient(options, sharding);
    current.on(Events.InteractionCreate, (interaction) => void answer(interaction));
    client = current;
    let over = false;
    const retry = (error: unknown) => {
      if (over || closing.signal.aborted) return;
      over = true;
      current.removeAllListeners();
      // A client that was given up may still emit; an error without a listener would end the process.
      current.on(Events.Error, () => {});
      current.destroy().catch(() => {});
      state = isRefusal(error) ? 'unauthorized' : 'away';
      sharding ||= needsSharding(error);
      if (state === 'unauthorized') options.onToken(false);
      const wait = state === 'unauthorized' ? UNAUTHORIZED_WAIT_MS : backOff(failures++, random());
      const refused = 'Discord refuses the token; set the right DISCORD_TOKEN and restart';
      log.error(
        { reason: reasonOf(error), state, waitMs: wait },
        state === 'unauthorized' ? refused : 'no connection to Discord',
      );
      timer = setTimeout(connect, wait);
    };
    const online = () => {
      failures = 0;
      state = 'ready';
      options.onToken(true);
    };
    current.on(Events.ClientReady, (ready) => {
      online();
      log.info({ guilds: ready.guilds.cache.size }, 'connected to Discord');
      void keepRegistering(ready);
    });
    current.on(Events.ShardResume, online);
    // Of a new session after the first one the library tells with this event alone.
    current.on(Events.ShardReady, online);
    current.on(Events.ShardReconnecting, () => {
      if (closing.signal.aborted) return;
      if (state === 'ready') log.warn('connection to Discord lost');
      state = 'away';
    });
    current.on(Events.ShardDisconnect, ({ code }) => retry(new GatewayClosed(code)));
    current.login(options.token).catch(retry);
  }

  /** Discord may be busy just after a start: registration is tried again for as long as this client is in use. */
  async function keepRegistering(ready: Client<true>, attempt = 0): Promise<void> {
    if (client !== ready || closing.signal.aborted) return;
    try {
      const { commands } = await served();
      const outcome = await registerCommands(ready.rest, ready.application.id, commands);
      log.info({ outcome, commands: commands.length }, 'commands registered');
    } catch (error) {
      if (client !== ready || closing.signal.aborted) return;
      log.error({ reason: reasonOf(error) }, 'cannot register commands');
      setTimeout(() => void keepRegistering(ready, attempt + 1), backOff(attempt + 2, random())).unref();
    }
  }

  connect();

  return {
    state: (): GatewayState => state,
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      state = 'closed';
      await client?.destroy().catch(() => {});
    },
  };
}

/** The gateway closed with a code after which the library does not come back. */
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

const SHARDING_REQUIRED = 4011;

function needsSharding(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === SHARDING_REQUIRED || message === 'Sharding is required';
}

/** Doubling with jitter between half and whole. */
function backOff(failures: number, random: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
}
