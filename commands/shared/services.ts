import type { RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import type { Bars } from '../../src/discord/chart.ts';
import type { InteractionContext } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { ExplorerRoot } from '../../src/domain/explorer.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import type { Language } from '../../src/languages/index.ts';
import type { ReceiverPaths } from '../../src/receiver/paths.ts';
import type { Store } from '../../src/store/store.ts';
import type { ReadAttachment } from '../../src/upstream/attachment.ts';
import type { Discovery } from '../../src/upstream/discovery.ts';
import type { Explorer } from '../../src/upstream/explorer.ts';
import type { Projects } from '../../src/upstream/projects.ts';
import type { GuildQueue } from './guild-queue.ts';

/** The configuration that commands need. */
export interface CommandSettings extends ExplorerRoot {
  maxSubscriptions: number;
  discoveryUrl: string | undefined;
  publicUrl: string;
  /** How the native coin is written; undefined: as its events name it. */
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
  /** Guilds' own projects as they are stored, and webhook names. */
  storedProjects: Store['projects'];
  /** Which notification project serves a guild, with its client. */
  projects: Projects;
  /** null when the interface is off. */
  explorer: Explorer | null;
  /** null when the interface is off. */
  discovery: Discovery | null;
  /** Where a project's events must be sent; only people who may manage the project may see it. */
  receiver: ReceiverPaths;
  /** Runs one guild's long reads one at a time. */
  guildQueue: GuildQueue;
  settings: CommandSettings;
  /** Milliseconds since 1970. */
  now(): number;
  /** The amount and asset of a transfer ("5 `USDC`"), safe for Discord. */
  moved(transfer: Transfer, language: Language): string;
  /** The name of a transfer's asset alone, safe for Discord. */
  assetName(transfer: Transfer, language: Language): string;
  /** Draws a bar chart as a PNG; rejects when it cannot be drawn on this machine. */
  chart(bars: Bars): Promise<Buffer>;
  /** Re-renders the messages affected by a label change; returns how many, and whether these are all of them. */
  onRelabeled(guildId: string, addresses: readonly AddressText[]): Promise<{ messages: number; isAll: boolean }>;
  /** Erases everything that is stored about a guild. */
  eraseGuild(guildId: string): Promise<void>;
  /** A sample alert of a subscription, in the guild's language. */
  sample(subscription: Subscription, language: string | null): RESTPostAPIChannelMessageJSONBody;
  /** Reads a file that was attached to a command. */
  readAttachment: ReadAttachment;
  /** The last delivery since the start from an address that is not a source: at one scope's URL, or at any. */
  lastRefused(scope: number | 'any'): { source: string | null; at: number } | null;
  /** Checks whether the receiver is reachable at its public address. */
  probeReceiver(): Promise<'reachable' | 'unreachable' | 'other'>;
}

/** What a command sees: the interaction's context, and of the services only those that it names. */
export type ContextWith<Names extends keyof CommandServices = never> = InteractionContext &
  Pick<CommandServices, Names>;
