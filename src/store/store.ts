import type { AddressText } from '../domain/address.ts';
import type { Alert, RenderedAlert } from '../domain/alert.ts';
import type { ClaimOptions, DeadLetter, Joinable, MessageRef, NewBatch, NextMessage, Notice } from '../domain/batch.ts';
import type { ChannelHead, ChannelState, Shard } from '../domain/channel.ts';
import type { Action, Confirmation, NewConfirmation, Questions } from '../domain/confirmation.ts';
import type { RecentQuery, RecentTransfers } from '../domain/dry-run.ts';
import type { AuditEntry, GuildSettings, Label, LabelAuthor, LabelRefusal } from '../domain/guild.ts';
import type { TransferHistory } from '../domain/history.ts';
import type { Hold } from '../domain/hold.ts';
import type { EndedResponse, InboxRow, InboxUsage, NewDelivery, Quarantined } from '../domain/inbox.ts';
import type { ActivityQuery, DecidedTransfer, PostedIn } from '../domain/movements.ts';
import type { Backlog, GuildOverview, StoredCounts } from '../domain/overview.ts';
import type { NewProject, ReceiverToken, StoredProject } from '../domain/project.ts';
import type { RoutingContext, RoutingQuery, RoutingResult } from '../domain/routing.ts';
import type { Silence } from '../domain/silence.ts';
import type {
  Asset,
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
import type { Pause } from '../domain/uptime.ts';

/**
 * The port to the data: everything that Ledgerbell remembers, and what can be done with it. A transfer's way through it:
 * `inbox` (bytes) → `routing` (transfers, decisions, alerts) → `outbox` (batches) → `history`.
 *
 * Each method is one whole transaction: it happens completely or not at all, and what it returns was true at one moment.
 * Those that work in short steps say so: each step is one.
 * When its promise resolves, its effect is visible to every later call. A call that fails rejects with a `StoreError`.
 * Each group names its read-only methods.
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
  erasure: Erasure;
}

/** Deliveries as received: bytes that are on disk and wait for the router. Read-only: `next`, `usage`. */
export interface Inbox {
  /** Stores deliveries in one durable commit; returns their ids in the same order. */
  append(deliveries: NewDelivery[]): Promise<number[]>;
  /** Records for other processes how the responses to stored deliveries ended. Deliveries that are gone are left out. */
  recordResponses(responses: EndedResponse[]): Promise<void>;
  /**
   * The oldest deliveries of each scope in turn, or of one `scope`, at most `limit`. Stops after the one whose body brings
   * them to `bytes`, but not before each scope had its turn.
   */
  next(limit: number, bytes?: number, scope?: number): Promise<InboxRow[]>;
  /** How much of the inbox each server's own project uses. */
  usage(): Promise<InboxUsage[]>;
}

/**
 * Deliveries that could not be understood, with their bytes, until somebody replays or discards them. Read-only:
 * `sizes`, `list`, `get`.
 */
export interface Quarantine {
  /** How much is in quarantine, by the scope it arrived for. */
  sizes(): Promise<{ scope: number; rows: number; bytes: number }[]>;
  /** All of them, oldest first, without their bytes. */
  list(): Promise<(Omit<Quarantined, 'body'> & { bytes: number })[]>;
  get(id: number): Promise<Quarantined | null>;
  /** Puts a delivery back into the inbox; false when there is none with this id. */
  replay(id: number): Promise<boolean>;
  /** Discards a delivery; false when there is none with this id. */
  discard(id: number): Promise<boolean>;
  /** Puts everything that is there now back into the inbox, in short steps; returns how many. */
  replayAll(): Promise<number>;
  /** Discards everything that is there now, in short steps; returns how many. */
  discardAll(): Promise<number>;
}

/** The step from the inbox to the outbox. Read-only: `context`. */
export interface Routing {
  /** Everything that deciding about these deliveries needs. `now` decides which mutes and counterparties still count. */
  context(queries: RoutingQuery[], now: number): Promise<RoutingContext>;
  /**
   * Stores what was decided, all or nothing: deliveries done, transfers seen, alerts made, reasons recorded. Rejects with
   * the code `LEDGERBELL_ROUTED` if one of the deliveries is no longer in the inbox: it is to be read again. Leaves out
   * what only concerns subscriptions in `stats` that were removed since the context was read. Returns the channels in
   * which sent messages must change. After a power failure the same deliveries may be routed again.
   */
  commit(result: RoutingResult): Promise<string[]>;
}

/**
 * Alerts and the messages (batches) made of them. A batch is frozen before its first byte is sent.
 *
 * Every attempt is counted before it begins, which also makes its outcome unsure: the first by `freeze` or `join`, each
 * other one of an edit by the `claim` that returns it, of any other message by `countAttempt`. An edit is counted by the
 * claim because that reads what the edit will show: whatever changes later requests another edit. It stays counted if the
 * caller then does not send it.
 *
 * Read-only: `channelsWithWork`, `due`, `alerts`.
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
  /** A page of a channel's due alerts with this hold, oldest first, behind the alert `after` (0: from the first). */
  due(channelId: string, hold: Hold | null, now: number, after: number, limit: number): Promise<Alert[]>;
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
  /** Records that the sent message was edited. */
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

/** Alerts and edits that Discord refused in every form, or that waited too long. Read-only: `list`, `get`. */
export interface DeadLetters {
  list(limit: number): Promise<DeadLetter[]>;
  get(id: number): Promise<DeadLetter | null>;
  /**
   * Puts a dead letter back among what waits, and makes its channel due now; false when there is none with this id.
   */
  replay(id: number, now: number): Promise<boolean>;
  /** Discards a dead letter; false when there is none with this id. */
  discard(id: number, now: number): Promise<boolean>;
  /** Discards a channel's dead letters, in short steps; returns how many. */
  discardAll(channelId: string, now: number): Promise<number>;
}

/** Whether the bot can post in channels, and which guilds the bot is in. Read-only: `blocked`, `channelForNotices`. */
export interface Channels {
  /**
   * Records a channel's state, and freezes the notice that reports it elsewhere. From then on the channel is no longer
   * blocked by a removal of the bot.
   */
  setState(head: Omit<ChannelHead, 'guildId'> & { reason: string | null }, notice?: Notice | null): Promise<void>;
  /** A guild's channels that the bot cannot post in. */
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

/**
 * Which channel watches which address. Every method but `watching` stays within one guild. Read-only: `list`, `get`,
 * `tokenMutes`, `watching`.
 */
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
  /** The tokens that are muted in a guild now. */
  tokenMutes(guildId: string, now: number): Promise<TokenMute[]>;
  /** Mutes a token in the whole guild until then (null: unmutes). */
  muteToken(guildId: string, token: Asset, until: number | null): Promise<void>;
  /** The subscriptions to these addresses in all guilds. */
  watching(addresses: string[]): Promise<Subscription[]>;
}

/** Each guild's address book: an address has one name, and a name one address. Read-only: `list`. */
export interface Labels {
  /** Sorted by name. */
  list(guildId: string): Promise<Label[]>;
  /** Names an address, unless another one has the name, or it is new and the guild is at `limit`; `before`: its previous name. */
  set(guildId: string, label: Label, limit?: number): Promise<{ status: 'set'; before: string | null } | LabelRefusal>;
  /** Removes an address's name; false when it no longer has this one. */
  remove(guildId: string, label: Pick<Label, 'address' | 'name'>): Promise<boolean>;
}

/** What each guild's admins chose. Read-only: `settings`, `language`. */
export interface Guilds {
  settings(guildId: string): Promise<GuildSettings>;
  /** Changes what is named; returns all settings as they are then. */
  changeSettings(guildId: string, changed: Partial<GuildSettings>): Promise<GuildSettings>;
  /** The chosen language, or else the guild's own at Discord; null: neither is known. */
  language(guildId: string): Promise<string | null>;
  /** Records the language that the guild has at Discord. */
  recordLocale(guildId: string, locale: string | null): Promise<void>;
}

/** Who changed what in a guild. Read-only: `page`. */
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

/**
 * Guilds' own notification projects, the receiver's path tokens, and webhook names. A project's id is its scope.
 * Read-only: `ofGuild`, `all`, `scopes`, `tokens`, `webhookNames`.
 */
export interface Projects {
  ofGuild(guildId: string): Promise<StoredProject | null>;
  all(): Promise<StoredProject[]>;
  /** The scope of every guild with a project of its own, by guild id; all others are in the operator's. */
  scopes(): Promise<Map<string, number>>;
  /** Stores or replaces a guild's project; returns its scope. `token` becomes its first path token. */
  save(project: NewProject, token: string): Promise<number>;
  /** Stores the same keys under another seal, unless they were replaced meanwhile. */
  reseal(project: StoredProject, sealed: Uint8Array): Promise<void>;
  /** Removes a guild's project with its path tokens and webhook names; false when there is none. */
  remove(guildId: string): Promise<boolean>;
  /** Every active path token. */
  tokens(): Promise<ReceiverToken[]>;
  addToken(token: string, scope: number): Promise<void>;
  /** Makes `token` the scope's path token and retires the present one; false while an older one still retires. */
  rotateToken(scope: number, token: string): Promise<boolean>;
  /** Ends a scope's retiring token; false when there is none. */
  revokeToken(scope: number): Promise<boolean>;
  /** A guild's webhook names, by webhook id. */
  webhookNames(guildId: string): Promise<Map<string, string>>;
  /** Names a webhook; null removes the name. */
  nameWebhook(guildId: string, webhookId: string, name: string | null): Promise<void>;
}

/** What happened. Every method stays within one guild. Read-only. */
export interface History {
  /** What happened to a transaction's transfers that concern the guild: how many there are, and the first `max`. */
  transfers(
    guildId: string,
    txHash: string,
    ownScope: number | null,
    now: number,
    max: number,
  ): Promise<{ total: number; first: TransferHistory[] }>;
  /** The transactions that one of the guild's messages shows: how many, and the first `max` with a transfer each. */
  transactionsOfMessage(
    guildId: string,
    reference: string,
    max: number,
  ): Promise<{ total: number; first: { txHash: string; transfers: number; transfer: Transfer }[] }>;
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

/** Busy addresses that have gone quiet, as of the latest count of events. Read-only: `current`, `unreported`. */
export interface Silences {
  /** A guild's silent addresses, whether muted or not, the longest silence first. */
  current(guildId: string, now: number): Promise<Silence[]>;
  /** Every guild's silences that somebody wants a notice of, that are not muted and were not reported. */
  unreported(now: number): Promise<Silence[]>;
  /** Freezes a notice about these subscriptions. False if all of them were reported since their last event. */
  report(notice: Notice, subscriptions: number[]): Promise<boolean>;
}

/** What is known about tokens. Read-only. */
export interface Tokens {
  /** What moved at the guild's addresses, most often first, then what the explorer's catalog has. */
  known(guildId: string): Promise<KnownToken[]>;
}

/** Counts for operators and admins, which may take long. Read-only. */
export interface Metrics {
  backlog(now: number): Promise<Backlog>;
  guild(guildId: string): Promise<GuildOverview>;
  /** What is stored about a guild. */
  stored(guildId: string): Promise<StoredCounts>;
}

/** When the bot could work, and when it last began a session at Discord. Read-only: `read`, `lastIdentify`. */
export interface Uptime {
  /** The latest time in the database (null when it is empty), and the pauses, in order. */
  read(): Promise<{ latest: number | null; pauses: Pause[] }>;
  /** Records that the bot works now, and all pauses. */
  record(now: number, pauses: readonly Pause[]): Promise<void>;
  /** When one of the bot's shards last identified at Discord; null: never. */
  lastIdentify(): Promise<number | null>;
  recordIdentify(at: number): Promise<void>;
}

declare const contents: unique symbol;

/** How far work in steps has come: plain data that only the engine reads. */
export interface Cursor<Kind extends 'retention' | 'unmatched' | 'erasure'> {
  readonly [contents]: Kind;
}

/** Deletion of old data. Read-only: `prunedBefore`. */
export interface Retention {
  /** How far deletion of old data has come, or the oldest time stored when it has not begun; null when nothing is stored. */
  prunedBefore(): Promise<number | null>;
  setPrunedBefore(time: number): Promise<void>;
  /**
   * Deletes some of the transfers of servers' own projects that were seen from one time to another and that no
   * subscription concerned; returns where to go on, null when nothing is left.
   */
  pruneUnmatched(since: number, before: number, from: Cursor<'unmatched'> | null): Promise<Cursor<'unmatched'> | null>;
  /**
   * Deletes some of what was seen before a time and is done with; returns where to go on, null when nothing is left. Some
   * engines keep transfers until their whole day (UTC) is over.
   */
  prune(before: number, from: Cursor<'retention'> | null): Promise<Cursor<'retention'> | null>;
}

/** Erasing what is stored about a guild, in steps between which others can write. Read-only: `removed`, `begun`. */
export interface Erasure {
  /** Erases a guild's settings and everything that causes alerts; the rest is erased in steps. */
  begin(guildId: string): Promise<void>;
  /** Guilds that removed the bot before a time and did not add it again. */
  removed(before: number): Promise<string[]>;
  /** Begins to erase one of these; false when it is no longer one. */
  beginRemoved(guildId: string, before: number): Promise<boolean>;
  /** Erases some more; returns where to go on, null when nothing is left. */
  step(guildId: string, from?: Cursor<'erasure'>): Promise<Cursor<'erasure'> | null>;
  /** Guilds whose erasure was begun and not finished. */
  begun(): Promise<string[]>;
}
