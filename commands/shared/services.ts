import type { RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import type { Bars } from '../../src/discord/chart.ts';
import type { InteractionContext } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { ExplorerRoot } from '../../src/domain/explorer.ts';
import type { ScopeQuota } from '../../src/domain/quota.ts';
import type { Reachability } from '../../src/domain/reachability.ts';
import type { RefusedSource } from '../../src/domain/refused-source.ts';
import type { GuildHold, SendingPause } from '../../src/domain/sending-pause.ts';
import type { AlertStyle, Subscription } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import type { Language } from '../../src/languages/index.ts';
import type { ReceiverPaths } from '../../src/receiver/paths.ts';
import type { SignatureFault } from '../../src/receiver/signature.ts';
import type { Store } from '../../src/store/store.ts';
import type { ReadAttachment } from '../../src/upstream/attachment.ts';
import type { Discovery } from '../../src/upstream/discovery.ts';
import type { Explorer } from '../../src/upstream/explorer.ts';
import type { InterfaceHealth } from '../../src/upstream/health.ts';
import type { Projects } from '../../src/upstream/projects.ts';
import type { Cooldown } from './cooldown.ts';
import type { GuildChannels } from './guild-channels.ts';
import type { GuildQueue } from './guild-queue.ts';

/** The configuration that commands need. */
export interface CommandSettings extends ExplorerRoot {
  maxSubscriptions: number;
  /** Maximum number of one guild's channels that may watch the same address. */
  maxChannelsPerAddress: number;
  discoveryUrl: string | undefined;
  publicUrl: string;
  /** The native coin's symbol; undefined: the one in its events. */
  nativeSymbol: string | undefined;
  operatorGuildIds: readonly string[];
  version: string;
  /** Version of the database's schema. */
  schema: number;
}

/** The groups of the store that commands use under their own names. */
type StoreGroups = Pick<
  Store,
  | 'subscriptions'
  | 'labels'
  | 'guilds'
  | 'channels'
  | 'audit'
  | 'confirmations'
  | 'history'
  | 'silence'
  | 'tokens'
  | 'metrics'
>;

/** What commands can use. Each names the few that it needs with {@link ContextWith}. */
export interface CommandServices extends StoreGroups {
  /** Guilds' own stored projects, and webhook names. */
  storedProjects: Store['projects'];
  /** The notification project that serves a guild, with its client. */
  projects: Projects;
  /** null when the interface is off. */
  explorer: Pick<Explorer, 'token'> | null;
  /** null when the interface is off. */
  discovery: Discovery | null;
  /** The interfaces that are down; `check` probes them all first. */
  interfaces: Pick<InterfaceHealth, 'check' | 'outages'>;
  /** Where a project's events must be sent; only people who may manage the project may see it. */
  receiver: ReceiverPaths;
  /** Runs one guild's slow reads one at a time. */
  guildQueue: GuildQueue;
  /** Requests about guilds' channels that Discord may refuse. */
  guildChannels: GuildChannels;
  /** How often people may query other services. */
  cooldown: Cooldown;
  settings: CommandSettings;
  /** Milliseconds since 1970. */
  now(): number;
  after: Clock['after'];
  /** The amount and asset of a transfer ("5 `USDC`"), safe for Discord. */
  moved(transfer: Transfer, language: Language, cataloged: ReadonlySet<AddressText>): string;
  /** The name of a transfer's asset alone, safe for Discord. */
  assetName(transfer: Transfer, language: Language, cataloged: ReadonlySet<AddressText>): string;
  /** Draws a bar chart as a PNG; rejects when it cannot be drawn on this machine. */
  chart(bars: Bars): Promise<Buffer>;
  /** Re-renders the messages affected by a label change; returns how many, and whether these are all of them. */
  onRelabeled(guildId: string, addresses: readonly AddressText[]): Promise<{ messages: number; isAll: boolean }>;
  /** Erases everything that is stored about a guild. */
  eraseGuild(guildId: string): Promise<void>;
  /** A sample alert of a subscription, in the guild's language. */
  sample(
    subscription: Subscription,
    server: { language: string | null; style: AlertStyle | null },
  ): RESTPostAPIChannelMessageJSONBody;
  /** Reads a file that was attached to a command. */
  readAttachment: ReadAttachment;
  /** The last delivery since the start from an address that is not a source: at one scope's URL, or at any. */
  lastRefused(scope: number | 'any'): (RefusedSource & { at: number }) | null;
  /** The last delivery since the start that one scope's URL refused for its signature, and how many there were. */
  lastBadSignature(scope: number): { fault: SignatureFault; at: number; count: number } | null;
  /**
   * The state of a guild whose channels all wait because Discord refused too many messages there; null: they do not
   * wait.
   */
  sendingHold(guildId: string): GuildHold | null;
  /** What a scope's receiver URL received, and its limits. */
  receiverQuota(scope: number): ScopeQuota;
  /** Why due alerts of a guild are not sent now: first what concerns every channel. */
  sendingPauses(guildId: string): SendingPause[];
  /** Checks whether the receiver is reachable at its public address. */
  probeReceiver(): Promise<Reachability>;
}

/** What a command gets: the interaction's context and every service. */
export type CommandContext = InteractionContext & CommandServices;

/** The part of it that one piece of a command needs: the interaction's context, and only the services that it names. */
export type ContextWith<Names extends keyof CommandServices = never> = InteractionContext &
  Pick<CommandServices, Names>;
