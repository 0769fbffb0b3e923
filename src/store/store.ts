import type { ActivityQuery, DecidedTransfer, PostedIn } from '../domain/activity.ts';
import type { AddressText, Asset } from '../domain/address.ts';
import type { Alert, AlertTarget, RenderedAlert } from '../domain/alert.ts';
import type {
  BalanceState,
  KeptBalances,
  LeftBalance,
  StatementPlan,
  Wallet,
  WatchedBalance,
} from '../domain/balance.ts';
import type {
  ClaimOptions,
  DeadLetter,
  Joinable,
  Lane,
  MadeNotice,
  MessageRef,
  NewBatch,
  NextMessage,
  Notice,
} from '../domain/batch.ts';
import type { Pause } from '../domain/clock.ts';
import type {
  Balances,
  BlockRange,
  CheckProgress,
  MissedTransfer,
  StoredTransfer,
  WatchedAddress,
} from '../domain/completeness.ts';
import type {
  Action,
  AuditEntry,
  Backlog,
  ChannelHead,
  ChannelState,
  Confirmation,
  GuildOverview,
  GuildSettings,
  Label,
  LabelAuthor,
  LabelRefusal,
  NewConfirmation,
  Questions,
  Shard,
  StoredCounts,
} from '../domain/guild.ts';
import type {
  HistoryQuery,
  MessageTransaction,
  RecentQuery,
  RecentTransfers,
  TransferHistory,
} from '../domain/history.ts';
import type { InboxRow, InboxUsage, NewDelivery, Quarantined } from '../domain/inbox.ts';
import type { NewProject, ReceiverToken, StoredProject } from '../domain/project.ts';
import type { RoutingContext, RoutingQuery, RoutingResult } from '../domain/routing.ts';
import type {
  ImportLimits,
  NewSubscription,
  Silence,
  Subscription,
  SubscriptionChange,
  SubscriptionImport,
  TokenMute,
} from '../domain/subscription.ts';
import type { AdditionRefusal, ChangeRefusal, ImportRefusal } from '../domain/subscription-limits.ts';
import type { KnownToken } from '../domain/token.ts';
import type { Transfer } from '../domain/transfer.ts';

/**
 * The port to the data. A transfer's way through it: `inbox` (bytes) → `routing` (transfers, decisions, alerts) →
 * `outbox` (batches) → `history`.
 *
 * Each method is one whole transaction, whose effect every later call sees once its promise resolves. It rejects with a
 * `StoreError`. Times are milliseconds since 1970; addresses and hashes are lower-case text; Discord ids are text.
 */
export interface Store {
  inbox: Inbox;
  quarantine: Quarantine;
  routing: Routing;
  outbox: Outbox;
  deadLetters: DeadLetters;
  channels: Channels;
  subscriptions: Subscriptions;
  labels: Labels;
  guilds: Guilds;
  audit: Audit;
  confirmations: Confirmations;
  projects: Projects;
  history: History;
  silence: Silences;
  tokens: Tokens;
  metrics: Metrics;
  retention: Retention;
  uptime: Uptime;
  chainChecks: ChainChecks;
  balances: BalanceFacts;
  erasure: Erasure;
}

/** Deliveries as received: bytes that are on disk and wait for the router. */
export interface Inbox {
  /** One durable commit; returns the ids in the same order. */
  append(deliveries: NewDelivery[]): Promise<number[]>;
  /** The oldest of each scope in turn. Stops after the one that brings them to `bytes`, once each scope had one. */
  next(limit: number, bytes?: number): Promise<InboxRow[]>;
  /** Of servers' own projects, not of the operator's. */
  usage(): Promise<InboxUsage[]>;
}

export interface Quarantine {
  /** Per scope. `rows` and `bytes` count the deliveries that still have their bytes. */
  sizes(): Promise<{ scope: number; rows: number; bytes: number; givenUp: number }[]>;
  /** Oldest first. */
  list(): Promise<Omit<Quarantined, 'body'>[]>;
  get(id: number): Promise<Quarantined | null>;
  /** Reasons in a scope that begin with `begin`, the latest first. */
  reasons(scope: number, begin: string): Promise<{ reason: string; count: number }[]>;
  /** Returns how many went back into the inbox: those that still have their bytes. */
  replay(ids: readonly number[]): Promise<number>;
  discard(ids: readonly number[]): Promise<number>;
  /** One step: the oldest deliveries beyond `keep` give up their bytes; returns how many did, 0 at the end. */
  giveUp(scope: number, keep: { rows: number; bytes: number }): Promise<number>;
}

export interface Routing {
  context(queries: RoutingQuery[], now: number): Promise<RoutingContext>;
  /**
   * Rejects with the code `LEDGERBELL_ROUTED` if a delivery has left the inbox since it was read. Leaves out what only
   * concerns subscriptions that were removed since then. `edited`: channels in which sent messages must change;
   * `next`: see {@link Inbox.next}. After a power failure the same deliveries may be routed again.
   */
  commit(
    result: RoutingResult,
    next?: { limit: number; bytes: number } | null,
  ): Promise<{ edited: AlertTarget[]; next: InboxRow[] }>;
}

/**
 * Alerts and the messages (batches) made of them. A batch is frozen before its first byte is sent.
 *
 * Every attempt is counted before it begins, which makes its outcome unconfirmed: the first by `freeze` or `join`, each
 * other one by `countAttempt`, except for edits. `claim` counts those, because it reads what the edit will show:
 * whatever changes later requests another edit.
 */
export interface Outbox {
  /** Includes blocked channels; before `sleepUntil` nothing there is due. */
  channelsWithWork(): Promise<(ChannelHead & { sleepUntil: number })[]>;
  /**
   * A frozen message, then the oldest due alerts, then an edit, as it was before this attempt. null: the channel is
   * unknown.
   */
  claim(
    channelId: string,
    options: ClaimOptions,
    now: number,
  ): Promise<{ head: ChannelHead; next: NextMessage } | null>;
  /** A page of a lane, oldest first, behind the alert `after` (0: from the first). */
  due(channelId: string, lane: Lane, now: number, after: number, limit: number): Promise<Alert[]>;
  /** In the order of the ids; deleted ones are left out. */
  alerts(ids: number[]): Promise<Alert[]>;
  /** Also counts the first attempt; null: the alerts changed. */
  freeze(batch: NewBatch, now: number): Promise<number | null>;
  /** Adds alerts to a sent message, edited to `payload`, and counts the first attempt; null: its alerts changed. */
  join(channelId: string, to: Joinable, alerts: RenderedAlert[], payload: string, now: number): Promise<number | null>;
  countAttempt(batchId: number, now: number): Promise<void>;
  markNotSent(batchId: number): Promise<void>;
  markSent(batchId: number, messageId: string | null, now: number): Promise<void>;
  markEdited(editId: number, now: number): Promise<void>;
  /** Alerts that were to join the message wait again. `reason` null: it is gone. */
  markEditFailed(editId: number, reason: string | null, now: number): Promise<void>;
  /** Its alerts wait again and are rendered again. */
  unfreeze(batchId: number): Promise<void>;
  /** For an edit, the change becomes the dead letter. */
  deadLetter(batchId: number, reason: string, now: number): Promise<void>;
  deadLetterUnrendered(alertId: number, reason: string, now: number): Promise<void>;
  /** Alerts that have waited since before this time become dead letters. */
  expire(channelId: string, before: number, reason: string, now: number): Promise<void>;
  requestRerender(messages: readonly MessageRef[], now: number): Promise<AlertTarget[]>;
  /** Makes alerts due that are held longer than any hold lasts, because a clock was ahead. */
  endLongHolds(now: number): Promise<void>;
}

export interface DeadLetters {
  list(limit: number): Promise<DeadLetter[]>;
  /** Makes its channel due now; false: there is none with this id. */
  replay(id: number, now: number): Promise<boolean>;
  discard(ids: readonly number[], now: number): Promise<number>;
}

export interface Channels {
  /** Freezes the notice that reports the state elsewhere, and ends the blocking by a removal of the bot. */
  setState(
    head: Omit<ChannelHead, 'guildId' | 'removed'> & { reason: string | null },
    notice?: Notice | null,
  ): Promise<void>;
  blocked(guildId: string): Promise<{ channelId: string; state: ChannelState; reason: string | null }[]>;
  /** Where trouble in a channel is reported; null: the guild has no other channel. */
  channelForNotices(guildId: string, troubledId: string): Promise<string | null>;
  postNotice(notice: Notice): Promise<void>;
  guildRemoved(guildId: string, now: number, dueAt: number): Promise<void>;
  /** Channels that a removal blocked are ready again. */
  guildReturned(guildId: string): Promise<void>;
  /** The bot is in exactly these guilds of a shard; returns which known ones it left and which added it again. */
  syncGuilds(present: ReadonlySet<string>, shard: Shard, now: number): Promise<{ gone: string[]; back: string[] }>;
}

/** Every method but `watching` stays within one guild. */
export interface Subscriptions {
  /** The label becomes the guild's name for the address; null keeps the name. `before`: the previous name. */
  add(
    subscription: NewSubscription,
    limit: number,
    channelsPerAddress?: number,
  ): Promise<{ status: 'added'; subscription: Subscription; before: string | null } | AdditionRefusal>;
  list(guildId: string): Promise<Subscription[]>;
  get(guildId: string, id: number): Promise<Subscription | null>;
  /** `by`: who gives the label, by default who made the subscription. */
  change(
    guildId: string,
    id: number,
    changed: SubscriptionChange,
    by?: LabelAuthor,
  ): Promise<{ status: 'changed'; subscription: Subscription } | { status: 'missing' } | ChangeRefusal>;
  /** All or nothing. */
  importAll(file: SubscriptionImport, limits: ImportLimits): Promise<'imported' | ImportRefusal>;
  /** null: unmutes. Returns how many of them exist. */
  mute(guildId: string, ids: readonly number[], until: number | null): Promise<number>;
  remove(guildId: string, id: number): Promise<boolean>;
  tokenMutes(guildId: string, now: number): Promise<TokenMute[]>;
  muteToken(guildId: string, token: Asset, until: number | null): Promise<void>;
  watching(addresses: string[]): Promise<Subscription[]>;
}

/** In a guild's address book, an address has one name and a name one address. */
export interface Labels {
  /** Sorted by name. */
  list(guildId: string): Promise<Label[]>;
  set(guildId: string, label: Label, limit?: number): Promise<{ status: 'set'; before: string | null } | LabelRefusal>;
  /** False: the address no longer has this name. */
  remove(guildId: string, label: Pick<Label, 'address' | 'name'>): Promise<boolean>;
}

export interface Guilds {
  settings(guildId: string): Promise<GuildSettings>;
  changeSettings(guildId: string, changed: Partial<GuildSettings>): Promise<GuildSettings>;
  /** The chosen one, or else the guild's own at Discord; null: neither is known. */
  language(guildId: string): Promise<string | null>;
  recordLocale(guildId: string, locale: string | null): Promise<void>;
}

export interface Audit {
  record(entry: AuditEntry): Promise<void>;
  /** Latest first, from the index `from` on. */
  page(guildId: string, from: number, limit: number): Promise<{ total: number; entries: AuditEntry[] }>;
  /** One step; returns how many entries it deleted. */
  prune(before: number): Promise<number>;
}

/** Questions, such as "Remove these?", that one person may confirm once. */
export interface Confirmations {
  /** Keeps only the guild's latest `max` with the same action. Returns the id. */
  ask<Asked extends Action>(question: NewConfirmation<Asked>, max: number): Promise<number>;
  /** null: it is gone, too old, or somebody else's. */
  take<Asked extends Action>(confirmation: Confirmation<Asked>): Promise<Questions[Asked] | null>;
}

/** A project's id is its scope. By default methods are about the first network. */
export interface Projects {
  /** The chain of the first network: this one, if none was recorded before. */
  firstNetwork(chainId: number): Promise<number>;
  ofGuild(guildId: string, network?: number): Promise<StoredProject | null>;
  all(): Promise<StoredProject[]>;
  /** `token` becomes its path token, unless it has one. Returns the scope. */
  save(project: NewProject, token: string): Promise<number>;
  /** Stores the same keys under another seal, unless they were replaced meanwhile. */
  reseal(project: StoredProject, sealed: Uint8Array): Promise<void>;
  /** Also removes its path tokens. */
  remove(guildId: string, network?: number): Promise<boolean>;
  tokens(): Promise<ReceiverToken[]>;
  addToken(token: string, scope: number): Promise<void>;
  /** Retires the present token; false: an older one still retires. */
  rotateToken(scope: number, token: string): Promise<boolean>;
  /** Ends the retiring token. */
  revokeToken(scope: number): Promise<boolean>;
  /** The webhook that gets new addresses, if the project's list does not show which one it is. */
  chosenWebhook(guildId: string, network: number): Promise<string | null>;
  chooseWebhook(guildId: string, network: number, webhookId: string | null): Promise<void>;
  webhookNames(guildId: string, network: number): Promise<Map<string, string>>;
  nameWebhook(guildId: string, network: number, webhookId: string, name: string | null): Promise<void>;
}

/** Every method stays within one guild. */
export interface History {
  transfers(query: HistoryQuery, now: number, max: number): Promise<{ total: number; first: TransferHistory[] }>;
  transactionsOfMessage(
    guildId: string,
    reference: string,
    max: number,
    skip: number,
  ): Promise<{ total: number; shown: MessageTransaction[] }>;
  activityChannels(query: Omit<ActivityQuery, 'channelIds'>): Promise<string[]>;
  /** About `limit`, latest first, and every transfer of the oldest moment among them; empty at the end. */
  decidedTransfers(query: ActivityQuery, limit: number): Promise<DecidedTransfer[]>;
  /** The first message in these channels for each transfer. */
  postedIn(guildId: string, transferIds: readonly number[], channelIds: readonly string[]): Promise<PostedIn[]>;
  /** Looks through about `limit` of the latest transfers, and all of the oldest moment among them; latest first. */
  recentTransfers(query: RecentQuery, limit: number): Promise<RecentTransfers>;
  /** Latest first. */
  messagesShowing(
    guildId: string,
    addresses: readonly AddressText[],
    since: number,
    limit: number,
  ): Promise<MessageRef[]>;
  /** Of the guild's addresses in its latest `decisions`, latest first. */
  counterparties(guildId: string, decisions: number): Promise<AddressText[]>;
}

/** Busy addresses that have gone quiet, as of the latest count of events. */
export interface Silences {
  /** Includes muted addresses; the longest silence first. */
  current(guildId: string, now: number): Promise<Silence[]>;
  /** In all guilds, where somebody wants a notice: neither muted nor reported. */
  unreported(now: number): Promise<Silence[]>;
  /** False, without a notice: all of them were reported since their last event. */
  report(notice: Notice, subscriptions: number[]): Promise<boolean>;
}

export interface Tokens {
  /** What moved at the guild's addresses, most often first, then what the explorers' catalogs have. */
  known(guildId: string, network?: number): Promise<KnownToken[]>;
}

export interface Metrics {
  backlog(now: number): Promise<Backlog>;
  guild(guildId: string): Promise<GuildOverview>;
  stored(guildId: string): Promise<StoredCounts>;
}

export interface Uptime {
  /** `latest`: the latest time in the database; null: it is empty. */
  read(): Promise<{ latest: number | null; pauses: Pause[] }>;
  record(now: number, pauses: readonly Pause[]): Promise<void>;
}

/** How far networks were compared with their chains, and what that found. */
export interface ChainChecks {
  /** Each address with the scopes whose events its guilds get, and since when it is watched. */
  watched(network: number): Promise<WatchedAddress[]>;
  /** Up to which block, and the balances there; null: not compared yet. */
  progress(network: number): Promise<{ progress: CheckProgress; balances: Balances } | null>;
  advance(network: number, progress: CheckProgress, balances: Balances): Promise<void>;
  /** Transfers in a range of blocks that concern these addresses, and all of these transactions. */
  stored(network: number, range: BlockRange, addresses: AddressText[], txHashes: string[]): Promise<StoredTransfer[]>;
  /** The transfers of other scopes that were decided for every guild that would get them in this one. */
  decided(network: number, scope: number, transferIds: number[]): Promise<number[]>;
  /** At most 100 that were delivered after the one with the id `seen`; `upTo`: the last id that this covers. */
  late(network: number, seen: number, block: number): Promise<{ upTo: number; found: StoredTransfer[] }>;
  /** `count`: how many the chain has. Returns the channels in which sent messages must change. */
  correct(wrong: { id: number; count: number }[], now: number): Promise<AlertTarget[]>;
  /** Posted transfers that were found on the chain, latest first, at most 1,000. */
  missed(guildId: string, since: number): Promise<MissedTransfer[]>;
  missedIn(since: number): Promise<string[]>;
  /** Up to when guilds were notified of the causes; null: never. */
  noticed(): Promise<number | null>;
  setNoticed(at: number): Promise<void>;
  /** When a scope's service last delivered something up to a time, and first after it. */
  deliveredAround(scope: number, at: number): Promise<{ before: number | null; after: number | null }>;
}

/** A transfer of an address whose balance its subscription shows in the alert, or warns of when it is low. */
export interface ConcernedBalance {
  transferId: number;
  network: number;
  transfer: Transfer;
  address: AddressText;
  subscription: number;
  shows: boolean;
  warns: boolean;
}

export interface BalanceFacts {
  /** What was decided after a decision, and the last one that this covers. `after` null: finds only the last one. */
  concerned(after: number | null): Promise<{ last: number; concerned: ConcernedBalance[] }>;
  /** Returns the channels in which sent messages must change, if their alerts show balances. */
  keep(balances: LeftBalance[], isShown: boolean, now: number): Promise<AlertTarget[]>;
  /** Without paused subscriptions. */
  watched(network: number): Promise<WatchedBalance[]>;
  /** Posts the notice and returns true if the state changed; records nothing if the subscription no longer warns. */
  record(state: BalanceState, notice: Notice): Promise<boolean>;
  statements(): Promise<StatementPlan[]>;
  /** Does nothing if they have begun. */
  beginStatements(guildId: string, until: number): Promise<void>;
  /** Returns the channel; null: nothing is posted. */
  postStatement(
    posted: { guildId: string; since: number; until: number; closing: KeptBalances },
    notice: MadeNotice | null,
  ): Promise<string | null>;
  /** `scope`: whose deliveries count there. */
  wallets(guildId: string, network: number): Promise<{ scope: number; wallets: Wallet[] }>;
}

/** Deletes old data in short steps. Each returns where the next one goes on, null at the end. */
export interface Retention {
  /** How far deletion has come, or the oldest time stored when it has not begun; null: nothing is stored. */
  prunedBefore(): Promise<number | null>;
  setPrunedBefore(time: number): Promise<void>;
  /** Transfers with ids above `afterId` that are done with. */
  pruneTransfers(before: number, afterId: number): Promise<number | null>;
  /** Transfers of a server's own project that concerned no subscription. */
  pruneUnmatched(scope: number, since: number, before: number): Promise<number | null>;
  /**
   * Transfers above `afterId` that concern only uncataloged tokens, with their older dead letters. When the disk is
   * low, also those of tokens that could not be looked up.
   */
  pruneWorthless(
    before: number,
    afterId: number,
    isDiskLow: boolean,
  ): Promise<{ deleted: number; next: number | null }>;
  /** In the database file, for new rows; 0 on Postgres. */
  reusableBytes(): Promise<number>;
  /** Messages that show no stored alert. */
  pruneMessages(before: number, from: number): Promise<number | null>;
  /** Returns whether more may be left. */
  pruneRest(before: number): Promise<boolean>;
}

export interface Erasure {
  /** Erases what causes alerts; steps erase the rest. `removedBefore`: only a guild that {@link removed} lists. */
  begin(guildId: string, removedBefore?: number): Promise<boolean>;
  /** Guilds that removed the bot before a time and did not add it again. */
  removed(before: number): Promise<string[]>;
  /** Returns whether more may be left. */
  step(guildId: string): Promise<boolean>;
  /** Erasures that are not finished. */
  begun(): Promise<string[]>;
}
