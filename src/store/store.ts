import type { ActivityQuery, DecidedTransfer, PostedIn } from '../domain/activity.ts';
import type { AddressText, Asset } from '../domain/address.ts';
import type { Alert, RenderedAlert } from '../domain/alert.ts';
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
import type { Silence } from '../domain/silence.ts';
import type {
  ImportLimits,
  NewSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionImport,
  TokenMute,
} from '../domain/subscription.ts';
import type { AdditionRefusal, ChangeRefusal, ImportRefusal } from '../domain/subscription-limits.ts';
import type { KnownToken } from '../domain/token.ts';
import type { Transfer } from '../domain/transfer.ts';

/**
 * The port to the data: everything that Ledgerbell remembers, and what can be done with it. A transfer's way through it:
 * `inbox` (bytes) → `routing` (transfers, decisions, alerts) → `outbox` (batches) → `history`.
 *
 * Each method is one whole transaction: it happens completely or not at all, and what it returns was true at one moment.
 * Those that work in short steps say so: each step is one.
 * When its promise resolves, its effect is visible to every later call. A call that fails rejects with a `StoreError`.
 * Times are milliseconds since 1970 and always arguments; addresses and hashes are lower-case text; Discord ids are text.
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
  /** Stores deliveries in one durable commit; returns their ids in the same order. */
  append(deliveries: NewDelivery[]): Promise<number[]>;
  /**
   * The oldest deliveries of each scope in turn, at most `limit`. Stops after the one whose body brings them to `bytes`, but
   * not before each scope had its turn.
   */
  next(limit: number, bytes?: number): Promise<InboxRow[]>;
  /** How much of the inbox each server's own project uses. */
  usage(): Promise<InboxUsage[]>;
}

/** Deliveries that could not be understood, until somebody replays or discards them. */
export interface Quarantine {
  /** By the scope it arrived for: how many deliveries have their bytes, how many bytes, and how many gave theirs up. */
  sizes(): Promise<{ scope: number; rows: number; bytes: number; givenUp: number }[]>;
  /** All of them, oldest first, without their bytes. */
  list(): Promise<Omit<Quarantined, 'body'>[]>;
  get(id: number): Promise<Quarantined | null>;
  /** Why deliveries of a scope are here, of the reasons that begin like this, the latest first, each with how many. */
  reasons(scope: number, begin: string): Promise<{ reason: string; count: number }[]>;
  /** Puts deliveries back into the inbox, unless they gave up their bytes; returns how many. */
  replay(ids: readonly number[]): Promise<number>;
  discard(ids: readonly number[]): Promise<number>;
  /**
   * Lets some of a scope's oldest deliveries give up their bytes if they exceed what is kept; returns how many did, 0 when
   * nothing exceeds it any more.
   */
  giveUp(scope: number, keep: { rows: number; bytes: number }): Promise<number>;
}

/** The step from the inbox to the outbox. */
export interface Routing {
  /** Everything that deciding about these deliveries needs. `now` decides which mutes and counterparties still count. */
  context(queries: RoutingQuery[], now: number): Promise<RoutingContext>;
  /**
   * Stores what was decided, all or nothing: deliveries done, transfers seen, alerts made, reasons recorded. Rejects with
   * the code `LEDGERBELL_ROUTED` if one of the deliveries is no longer in the inbox: it is to be read again. Leaves out
   * what only concerns subscriptions in `stats` that were removed since the context was read. Returns the channels in
   * which sent messages must change, and what is next in the inbox, see {@link Inbox.next}: nothing by default. After a
   * power failure the same deliveries may be routed again.
   */
  commit(
    result: RoutingResult,
    next?: { limit: number; bytes: number } | null,
  ): Promise<{ edited: string[]; next: InboxRow[] }>;
}

/**
 * Alerts and the messages (batches) made of them. A batch is frozen before its first byte is sent.
 *
 * Every attempt is counted before it begins, which also makes its outcome unsure: the first by `freeze` or `join`, each
 * other one of an edit by the `claim` that returns it, of any other message by `countAttempt`. An edit is counted by the
 * claim because that reads what the edit will show: whatever changes later requests another edit. It stays counted if the
 * caller then does not send it.
 */
export interface Outbox {
  /** Every channel with something to send, whatever its state; before `sleepUntil` nothing there is due. */
  channelsWithWork(): Promise<(ChannelHead & { sleepUntil: number })[]>;
  /**
   * What to send to a channel next: a frozen batch or its oldest due alerts, in the order of `sendingOrder`. Counts an
   * attempt of an edit, and returns it as it was before.
   */
  claim(
    channelId: string,
    options: ClaimOptions,
    now: number,
  ): Promise<{ head: ChannelHead | null; next: NextMessage }>;
  /** A page of a channel's due alerts of a lane, oldest first, behind the alert `after` (0: from the first). */
  due(channelId: string, lane: Lane, now: number, after: number, limit: number): Promise<Alert[]>;
  /** Alerts as they are known now, in the order of the ids; deleted ones are left out. */
  alerts(ids: number[]): Promise<Alert[]>;
  /** Freezes alerts into one batch and counts its first attempt; returns its id, or null when the alerts changed. */
  freeze(batch: NewBatch, now: number): Promise<number | null>;
  /**
   * Adds alerts to a sent message, by an edit to `payload`, and counts the edit's first attempt; returns its id, or null
   * when the alerts, or those that the message shows, changed.
   */
  join(channelId: string, to: Joinable, alerts: RenderedAlert[], payload: string, now: number): Promise<number | null>;
  /** Counts one more attempt of a batch that is no edit. */
  countAttempt(batchId: number, now: number): Promise<void>;
  /** Records that the last attempt changed nothing at Discord. */
  markNotSent(batchId: number): Promise<void>;
  /** Records that Discord has the message; returns whether its channel has more to send, now or later. */
  markSent(batchId: number, messageId: string | null, now: number): Promise<boolean>;
  markEdited(editId: number, now: number): Promise<void>;
  /** Records that the message will not be edited: alerts that were to join it wait again. `reason` null: it is gone. */
  markEditFailed(editId: number, reason: string | null, now: number): Promise<void>;
  /** Dissolves a frozen batch; its alerts wait again, to be rendered again. */
  unfreeze(batchId: number): Promise<void>;
  /** Turns a batch's alerts, or the change that an edit would have made, into dead letters. */
  deadLetter(batchId: number, reason: string, now: number): Promise<void>;
  /** Turns a waiting alert that cannot be rendered into a dead letter; does nothing if it no longer waits. */
  deadLetterUnrendered(alertId: number, reason: string, now: number): Promise<void>;
  /** Turns what has waited for a channel since before a time into dead letters. */
  expire(channelId: string, before: number, reason: string, now: number): Promise<void>;
  /** Requests that messages are rendered again; returns their channels. */
  requestRerender(messages: readonly MessageRef[], now: number): Promise<string[]>;
  /** Makes due what is held longer than any hold lasts, because a clock was ahead. */
  endLongHolds(now: number): Promise<void>;
}

/** Alerts and edits that Discord refused in every form, or that waited too long. */
export interface DeadLetters {
  list(limit: number): Promise<DeadLetter[]>;
  /** Puts a dead letter back among what waits, and makes its channel due now; false when there is none with this id. */
  replay(id: number, now: number): Promise<boolean>;
  discard(ids: readonly number[], now: number): Promise<number>;
}

/** Whether the bot can post in channels, and which guilds the bot is in. */
export interface Channels {
  /**
   * Records a channel's state, and freezes the notice that reports it elsewhere. From then on the channel is no longer
   * blocked by a removal of the bot.
   */
  setState(head: Omit<ChannelHead, 'guildId'> & { reason: string | null }, notice?: Notice | null): Promise<void>;
  blocked(guildId: string): Promise<{ channelId: string; state: ChannelState; reason: string | null }[]>;
  /** Where a guild is notified of trouble in a channel; null where it has no other channel. */
  channelForNotices(guildId: string, troubledId: string): Promise<string | null>;
  /** Freezes a message that is about no transfer. */
  postNotice(notice: Notice): Promise<void>;
  /** Records that the bot was removed from a guild: what waits there is kept for 30 days. */
  guildRemoved(guildId: string, now: number, dueAt: number): Promise<void>;
  /** Records that the bot is in a guild, also after a removal: channels that the removal blocked are ready again. */
  guildReturned(guildId: string): Promise<void>;
  /**
   * Records that the bot is in exactly these guilds of a shard; returns the known ones it is not in, and those it is in
   * again.
   */
  syncGuilds(present: ReadonlySet<string>, shard: Shard, now: number): Promise<{ gone: string[]; back: string[] }>;
  /** Counts a guild's erasure from now: it removed the bot and still uses its commands. */
  postponeErasure(guildId: string, now: number): Promise<void>;
}

/** Which channel watches which address. Every method but `watching` stays within one guild. */
export interface Subscriptions {
  /**
   * Adds one, unless the channel already watches the address, the guild is at `limit`, `channelsPerAddress` of its
   * channels already watch the address (`crowded`), or its label is refused. A label becomes the guild's name for the
   * address; `before`: its previous name. Without a label the address keeps its name.
   */
  add(
    subscription: NewSubscription,
    limit: number,
    channelsPerAddress?: number,
  ): Promise<{ status: 'added'; subscription: Subscription; before: string | null } | AdditionRefusal>;
  list(guildId: string): Promise<Subscription[]>;
  get(guildId: string, id: number): Promise<Subscription | null>;
  /**
   * Changes what is named, unless the new channel already watches the address or the label is refused. The label is the
   * guild's name for the address; `by`: who names it, by default who made the subscription.
   */
  change(
    guildId: string,
    id: number,
    changed: SubscriptionChange,
    by?: LabelAuthor,
  ): Promise<{ status: 'changed'; subscription: Subscription } | { status: 'missing' } | ChangeRefusal>;
  /** Adds, changes and names everything in a file, or nothing. */
  importAll(file: SubscriptionImport, limits: ImportLimits): Promise<'imported' | ImportRefusal>;
  /** Mutes these until then (null: unmutes); returns how many there are. */
  mute(guildId: string, ids: readonly number[], until: number | null): Promise<number>;
  remove(guildId: string, id: number): Promise<boolean>;
  tokenMutes(guildId: string, now: number): Promise<TokenMute[]>;
  /** null: unmutes. */
  muteToken(guildId: string, token: Asset, until: number | null): Promise<void>;
  /** The subscriptions to these addresses in all guilds. */
  watching(addresses: string[]): Promise<Subscription[]>;
}

/** Each guild's address book: an address has one name, and a name one address. */
export interface Labels {
  /** Sorted by name. */
  list(guildId: string): Promise<Label[]>;
  /** Names an address, unless another one has the name, or it is new and the guild is at `limit`; `before`: its previous name. */
  set(guildId: string, label: Label, limit?: number): Promise<{ status: 'set'; before: string | null } | LabelRefusal>;
  /** Removes an address's name; false when it no longer has this one. */
  remove(guildId: string, label: Pick<Label, 'address' | 'name'>): Promise<boolean>;
}

/** What each guild's admins chose. */
export interface Guilds {
  settings(guildId: string): Promise<GuildSettings>;
  /** Changes what is named; returns all settings as they are then. */
  changeSettings(guildId: string, changed: Partial<GuildSettings>): Promise<GuildSettings>;
  /** The chosen language, or else the guild's own at Discord; null: neither is known. */
  language(guildId: string): Promise<string | null>;
  /** Records the language that the guild has at Discord. */
  recordLocale(guildId: string, locale: string | null): Promise<void>;
}

/** Who changed what in a guild. */
export interface Audit {
  record(entry: AuditEntry): Promise<void>;
  /** How many entries a guild has, and some of them, latest first, from the one with this index on. */
  page(guildId: string, from: number, limit: number): Promise<{ total: number; entries: AuditEntry[] }>;
  /** Deletes some of the entries from before a time; returns how many. */
  prune(before: number): Promise<number>;
}

/** Questions, such as "Remove these?", that one person may confirm once. */
export interface Confirmations {
  /** Stores a question and keeps only the guild's latest `max` with the same action. Returns its id. */
  ask<Asked extends Action>(question: NewConfirmation<Asked>, max: number): Promise<number>;
  /** Removes a question and returns its detail; null if it is gone, too old, or somebody else's. */
  take<Asked extends Action>(confirmation: Confirmation<Asked>): Promise<Questions[Asked] | null>;
}

/** Guilds' own notification projects, the receiver's path tokens, and webhooks. A project's id is its scope. */
export interface Projects {
  /** The chain whose network is the first one: this chain's, if that was not recorded before. */
  firstNetwork(chainId: number): Promise<number>;
  /** By default on the first network. */
  ofGuild(guildId: string, network?: number): Promise<StoredProject | null>;
  all(): Promise<StoredProject[]>;
  /** Stores or replaces a guild's project; returns its scope. `token` becomes its first path token. */
  save(project: NewProject, token: string): Promise<number>;
  /** Stores the same keys under another seal, unless they were replaced meanwhile. */
  reseal(project: StoredProject, sealed: Uint8Array): Promise<void>;
  /** Removes a guild's project on a network (default: the first) with its path tokens; false when there is none. */
  remove(guildId: string, network?: number): Promise<boolean>;
  tokens(): Promise<ReceiverToken[]>;
  addToken(token: string, scope: number): Promise<void>;
  /** Makes `token` the scope's path token and retires the present one; false while an older one still retires. */
  rotateToken(scope: number, token: string): Promise<boolean>;
  /** Ends a scope's retiring token; false when there is none. */
  revokeToken(scope: number): Promise<boolean>;
  /** The webhook that gets a guild's new addresses, if its project's list does not show which one it is. */
  chosenWebhook(guildId: string, network: number): Promise<string | null>;
  /** Chooses it; null: none. */
  chooseWebhook(guildId: string, network: number, webhookId: string | null): Promise<void>;
  webhookNames(guildId: string, network: number): Promise<Map<string, string>>;
  /** Names a webhook; null removes the name. */
  nameWebhook(guildId: string, network: number, webhookId: string, name: string | null): Promise<void>;
}

/** What happened. Every method stays within one guild. */
export interface History {
  /** What happened to a transaction's transfers that concern the guild: how many there are, and the first `max`. */
  transfers(query: HistoryQuery, now: number, max: number): Promise<{ total: number; first: TransferHistory[] }>;
  /** The transactions that one of the guild's messages shows: how many, and `max` of them behind the first `skip`. */
  transactionsOfMessage(
    guildId: string,
    reference: string,
    max: number,
    skip: number,
  ): Promise<{ total: number; shown: MessageTransaction[] }>;
  /** The channels for which transfers of an address were decided about. */
  activityChannels(query: Omit<ActivityQuery, 'channelIds'>): Promise<string[]>;
  /**
   * The latest transfers of an address with what was decided about each: about `limit`, latest first, and every transfer
   * of the oldest moment among them. Empty when there are no more.
   */
  decidedTransfers(query: ActivityQuery, limit: number): Promise<DecidedTransfer[]>;
  /** The first message in these channels that shows each transfer, where there is one. */
  postedIn(guildId: string, transferIds: readonly number[], channelIds: readonly string[]): Promise<PostedIn[]>;
  /**
   * Looks through about `limit` of the latest transfers of the guild's project, and every transfer of the oldest moment
   * among them, for those that involve an address; latest first.
   */
  recentTransfers(query: RecentQuery, limit: number): Promise<RecentTransfers>;
  /** The latest messages, at most `limit`, of a guild since a time that show one of these addresses. */
  messagesShowing(
    guildId: string,
    addresses: readonly AddressText[],
    since: number,
    limit: number,
  ): Promise<MessageRef[]>;
  /** The counterparties of the guild's addresses in its latest `decisions`, latest first. */
  counterparties(guildId: string, decisions: number): Promise<AddressText[]>;
}

/** Busy addresses that have gone quiet, as of the latest count of events. */
export interface Silences {
  /** A guild's silent addresses, whether muted or not, the longest silence first. */
  current(guildId: string, now: number): Promise<Silence[]>;
  /** Every guild's silences that somebody wants a notice of, that are not muted and were not reported. */
  unreported(now: number): Promise<Silence[]>;
  /** Freezes a notice about these subscriptions. False if all of them were reported since their last event. */
  report(notice: Notice, subscriptions: number[]): Promise<boolean>;
}

export interface Tokens {
  /**
   * What moved at the guild's addresses, most often first, then what the explorers' catalogs have; on one network, or by
   * default on each.
   */
  known(guildId: string, network?: number): Promise<KnownToken[]>;
}

/** Counts for operators and admins, which may take long. */
export interface Metrics {
  backlog(now: number): Promise<Backlog>;
  guild(guildId: string): Promise<GuildOverview>;
  stored(guildId: string): Promise<StoredCounts>;
}

/** When the bot could work. */
export interface Uptime {
  /** The latest time in the database (null when it is empty), and the pauses, in order. */
  read(): Promise<{ latest: number | null; pauses: Pause[] }>;
  /** Records that the bot works now, and all pauses. */
  record(now: number, pauses: readonly Pause[]): Promise<void>;
}

/** How far networks were compared with their chains, and what that found. */
export interface ChainChecks {
  /** Every address that is watched on a network, with each scope whose events its guilds get, and since when. */
  watched(network: number): Promise<WatchedAddress[]>;
  /** How far a network was compared, and the balances at that block; null: not at all. */
  progress(network: number): Promise<{ progress: CheckProgress; balances: Balances } | null>;
  /** Records how far a network was compared, with all balances at that block. */
  advance(network: number, progress: CheckProgress, balances: Balances): Promise<void>;
  /** Transfers in a range of blocks that concern these addresses, and every transfer of these transactions. */
  stored(network: number, range: BlockRange, addresses: AddressText[], txHashes: string[]): Promise<StoredTransfer[]>;
  /** Those of some transfers of other scopes that were decided for every guild that would get them in this one. */
  told(network: number, scope: number, transferIds: number[]): Promise<number[]>;
  /**
   * Transfers that were delivered after the one with the id `seen`, of blocks up to one, at most 100. `upTo`: the id of the
   * latest transfer that this covers.
   */
  late(network: number, seen: number, block: number): Promise<{ upTo: number; found: StoredTransfer[] }>;
  /** Records how many of some transfers the chain has; returns the channels in which sent messages must change. */
  correct(wrong: { id: number; count: number }[], now: number): Promise<string[]>;
  /** A guild's posted transfers since a time that were found on the chain, latest first, at most 1,000. */
  missed(guildId: string, since: number): Promise<MissedTransfer[]>;
  /** The guilds with any of these. */
  missedIn(since: number): Promise<string[]>;
  /** Up to when guilds were notified of the causes of these; null: never. */
  noticed(): Promise<number | null>;
  setNoticed(at: number): Promise<void>;
  /** When a scope's service last delivered something before a time, and first after it. */
  deliveredAround(scope: number, at: number): Promise<{ before: number | null; after: number | null }>;
}

/** A transfer of an address of whose balance somebody wants to know. */
export interface ConcernedBalance {
  transferId: number;
  network: number;
  transfer: Transfer;
  address: AddressText;
  subscription: number;
  /** Its alert shows the balance. */
  shows: boolean;
  /** The subscription warns of a low one. */
  warns: boolean;
}

/** What transfers left to watched addresses, and which balances are low. */
export interface BalanceFacts {
  /** What was decided after a decision that concerns balances, and the last decision that this covers; null: nothing yet. */
  concerned(after: number | null): Promise<{ last: number; concerned: ConcernedBalance[] }>;
  /** Adds balances to their transfers; returns the channels in which sent messages must change, if their alerts show them. */
  keep(left: LeftBalance[], isShown: boolean, now: number): Promise<string[]>;
  /** Who wants to be warned of a low balance on a network, but for paused subscriptions. */
  watched(network: number): Promise<WatchedBalance[]>;
  /**
   * Records whether a balance is low; freezes the notice if that changed. Returns whether it did. False, and nothing is
   * recorded, if the subscription no longer wants to know.
   */
  record(state: BalanceState, notice: Notice): Promise<boolean>;
  /** Who wants statements, and up to when they were posted. */
  statements(): Promise<StatementPlan[]>;
  /** A guild's first statement begins then, unless it has begun. */
  beginStatements(guildId: string, until: number): Promise<void>;
  /** Freezes a statement where the guild's alerts go; returns the channel, null: nothing is posted. */
  postStatement(
    posted: { guildId: string; since: number; until: number; closing: KeptBalances },
    notice: Pick<Notice, 'nonce' | 'reference' | 'payload' | 'attachment' | 'now'> | null,
  ): Promise<string | null>;
  /** A guild's watched addresses on a network, and the scope whose deliveries count there. */
  wallets(guildId: string, network: number): Promise<{ scope: number; wallets: Wallet[] }>;
}

/** Deletion of old data, in short steps that the caller repeats. */
export interface Retention {
  /** How far deletion of old data has come, or the oldest time stored when it has not begun; null when nothing is stored. */
  prunedBefore(): Promise<number | null>;
  setPrunedBefore(time: number): Promise<void>;
  /**
   * Deletes some of the transfers with ids above `afterId` that were seen before a time and are done with; returns the id
   * after which to go on, null when nothing is left.
   */
  pruneTransfers(before: number, afterId: number): Promise<number | null>;
  /**
   * Deletes some of the transfers of a server's own project that were seen from one time to another and that no subscription
   * concerned; returns since when to go on, null when nothing is left.
   */
  pruneUnmatched(scope: number, since: number, before: number): Promise<number | null>;
  /**
   * Deletes some of the transfers above `afterId` that were seen before a time and concern only uncataloged tokens, with
   * their dead letters from before that time; if the disk is low, also those of tokens that could not be looked up. Returns how
   * many, and the id after which to go on, null when nothing is left.
   */
  pruneWorthless(
    before: number,
    afterId: number,
    isDiskLow: boolean,
  ): Promise<{ deleted: number; next: number | null }>;
  /** Bytes in the database file that new rows reuse; 0 if a server has the database. */
  reusableBytes(): Promise<number>;
  /**
   * Deletes some of the messages that were frozen from one time to another and show no stored alert; returns from when to go
   * on, null when nothing is left.
   */
  pruneMessages(before: number, from: number): Promise<number | null>;
  /** Deletes some of everything else from before a time; returns whether more may be left. */
  pruneRest(before: number): Promise<boolean>;
}

/** Erasing what is stored about a guild, in steps between which others can write. */
export interface Erasure {
  /**
   * Erases a guild's settings and everything that causes alerts; the rest is erased in steps. `removedBefore`: only if it is
   * one of the {@link removed}; returns whether it was.
   */
  begin(guildId: string, removedBefore?: number): Promise<boolean>;
  /** Guilds that removed the bot before a time and did not add it again. */
  removed(before: number): Promise<string[]>;
  /** Erases some more; returns whether more may be left. */
  step(guildId: string): Promise<boolean>;
  /** Guilds whose erasure was begun and not finished. */
  begun(): Promise<string[]>;
}
