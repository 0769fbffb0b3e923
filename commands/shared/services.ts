import type { RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import type { Bars } from '../../src/discord/chart.ts';
import type { InteractionContext } from '../../src/discord/command.ts';
import type { ExplorerRoot } from '../../src/discord/render/wording.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { StatementOutcome, StatementRequest } from '../../src/domain/balance.ts';
import type { ChainNode } from '../../src/domain/chain-node.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Completeness } from '../../src/domain/completeness.ts';
import type { Reachability, RefusedSource, ScopeQuota } from '../../src/domain/inbox.ts';
import type { Network } from '../../src/domain/network.ts';
import type { GuildPause, Outbox, SendingPause } from '../../src/domain/sender.ts';
import type { AlertStyle, Subscription } from '../../src/domain/subscription.ts';
import type { ReceiverPaths } from '../../src/receiver/path-tokens.ts';
import type { SignatureFault } from '../../src/receiver/signature.ts';
import type { Store } from '../../src/store/store.ts';
import type { ReadAttachment } from '../../src/upstream/attachment.ts';
import type { Discovery } from '../../src/upstream/discovery.ts';
import type { Explorer } from '../../src/upstream/explorer.ts';
import type { InterfaceHealth } from '../../src/upstream/health.ts';
import type { Projects } from '../../src/upstream/projects.ts';
import type { Cooldown, GuildQueue } from './fair-use.ts';
import type { GuildChannels } from './guild-channels.ts';

export interface CommandSettings extends ExplorerRoot {
  maxSubscriptions: number;
  /** Maximum number of one guild's channels that may watch the same address. */
  maxChannelsPerAddress: number;
  discoveryUrl: string | undefined;
  publicUrl: string;
  networks: readonly Network[];
  /** The native coin's symbol; undefined: the one in its events. */
  nativeSymbol: string | undefined;
  operatorGuildIds: readonly string[];
  hasPrices: boolean;
  version: string;
  schema: number;
}

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
  | 'balances'
  | 'metrics'
  | 'quarantine'
  | 'chainChecks'
>;

export interface NetworkServices {
  network: Network;
  projects: Projects;
  explorer: Pick<Explorer, 'token'> | null;
  discovery: Discovery | null;
  chain: ChainNode | null;
  /** The interfaces that are down; `check` probes them all first. */
  interfaces: Pick<InterfaceHealth, 'check' | 'outages'>;
  settings: CommandSettings;
  cooldown: Cooldown;
}

/** The services that commands use; those of a network are the first one's. */
export interface CommandServices extends StoreGroups, NetworkServices {
  /** Use them by `eachNetwork`. */
  networks: readonly NetworkServices[];
  storedProjects: Store['projects'];
  /** Where a project's events must be sent; only people who may manage the project may see it. */
  receiver: ReceiverPaths;
  guildQueue: GuildQueue;
  guildChannels: GuildChannels;
  /** Milliseconds since 1970. */
  now(): number;
  after: Clock['after'];
  /** Draws a bar chart as a PNG; rejects when it cannot be drawn on this machine. */
  chart(bars: Bars): Promise<Buffer>;
  /** Re-renders the messages affected by a label change; returns how many, and whether these are all of them. */
  relabel(guildId: string, addresses: readonly AddressText[]): Promise<{ messages: number; isAll: boolean }>;
  wake: Outbox['wake'];
  eraseGuild(guildId: string): Promise<void>;
  sample(
    subscription: Subscription,
    server: { language: string | null; style: AlertStyle | null },
  ): RESTPostAPIChannelMessageJSONBody;
  readAttachment: ReadAttachment;
  /** The last one since the start from an address that is not a source: at one scope's URL, or at any. */
  lastRefused(scope: number | 'any'): (RefusedSource & { at: number }) | null;
  /** Since the start. */
  lastBadSignature(scope: number): { fault: SignatureFault; at: number; count: number } | null;
  /** null: the guild's channels do not all wait because of Discord's refusals. */
  guildPause(guildId: string): GuildPause | null;
  receiverQuota(scope: number): ScopeQuota;
  /** Why due alerts of a guild are not sent now: first what concerns every channel. */
  sendingPauses(guildId: string): SendingPause[];
  completeness(): Completeness[];
  statement(request: StatementRequest): Promise<StatementOutcome>;
  probeReceiver(): Promise<Reachability>;
}

export type Context = InteractionContext & CommandServices;
