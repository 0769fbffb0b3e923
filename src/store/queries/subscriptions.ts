import type { AddressText } from '../../domain/address.ts';
import type { StoredMatch } from '../../domain/alert.ts';
import { nameInBook } from '../../domain/guild.ts';
import {
  BUSY,
  DEFAULT_CHOICES,
  deservesNotice,
  isSilent,
  leaves,
  type NewSubscription,
  type Silence,
  type Subscription,
  type SubscriptionChange,
} from '../../domain/subscription.ts';
import {
  additionRefusal,
  changeRefusal,
  importedSubscription,
  importRefusal,
  namesInFile,
  subscriptionKey,
} from '../../domain/subscription-limits.ts';
import {
  insert,
  insertAll,
  isIn,
  type Part,
  part,
  type QueriesOf,
  remove,
  report,
  rows,
  type Sql,
  update,
  write,
} from '../sql.ts';
import type { Silences, Subscriptions } from '../store.ts';
import { writeNotice } from './channels.ts';
import { bookOf, putLabels, removeLabels } from './guilds.ts';
import { scopesOf } from './projects.ts';
import { WATCHER_COLUMNS, withFilters } from './routing.ts';

export const LABEL_OF_SUBSCRIPTION = part`(SELECT name FROM labels
  WHERE labels.guild_id = subscriptions.guild_id AND labels.address = subscriptions.address)`;

const SELECT = part`SELECT ${WATCHER_COLUMNS}, network, ${LABEL_OF_SUBSCRIPTION} AS label, mention,
    created_by, created_at, mention_cooldown, mentioned_at, minor_mentioned_at, watch_silence AS watch_silence_flag,
    style, show_balance AS show_balance_flag, warn_below, last_event_at
  FROM subscriptions LEFT JOIN activity_stats ON subscription_id = id`;

async function selected(sql: Sql, rest: Part): Promise<Subscription[]> {
  const found = await sql.all<Omit<Subscription, 'filters'> & { filters: string }>`${SELECT} ${rest}`;
  return withFilters(found);
}

export const subscriptions: QueriesOf<Subscriptions> = {
  add: write(async (sql, subscription, limit, channelsPerAddress = Number.POSITIVE_INFINITY) => {
    const { guildId, address, createdBy, createdAt: at, label = null } = subscription;
    const [existing] = await subscriptionsTo(sql, [subscription]);
    const counts = await sql.get<{ subscriptions: number; channels: number }>`
      SELECT count(*) AS subscriptions, count(DISTINCT channel_id) FILTER (WHERE address = ${address}) AS channels
      FROM subscriptions WHERE guild_id = ${guildId}`;
    const book = label === null ? [] : await bookOf(sql, guildId);
    const limits = { subscriptions: limit, channelsPerAddress };
    const refusal = additionRefusal(subscription, { existing: existing ?? null, ...counts!, book }, limits);
    if (refusal) return refusal;
    if (label !== null) await putLabels(sql, guildId, [{ address, name: label, createdBy, at }]);
    const id = await insertSubscription(sql, subscription);
    const added = await subscriptionOf(sql, guildId, id);
    return { status: 'added' as const, subscription: added!, before: nameInBook(book, address) };
  }),

  list: report((sql, guildId) => selected(sql, part`WHERE guild_id = ${guildId} ORDER BY channel_id, id`)),

  get: report(subscriptionOf),

  change: write(async (sql, guildId, id, changed, by) => {
    const before = await subscriptionOf(sql, guildId, id);
    if (!before) return { status: 'missing' as const };
    const { address } = before;
    const { channelId = before.channelId, network = before.network, label } = changed;
    const [existing] = await subscriptionsTo(sql, [{ address, channelId, network }]);
    const book = typeof label === 'string' ? await bookOf(sql, guildId) : [];
    const refusal = changeRefusal(before, changed, { existing: existing ?? null, book });
    if (refusal) return refusal;
    const { userId: createdBy, at } = by ?? { userId: before.createdBy, at: before.createdAt };
    if (label === null) await removeLabels(sql, guildId, [address]);
    else if (label !== undefined) await putLabels(sql, guildId, [{ address, name: label, createdBy, at }]);
    await changeSubscription(sql, before, changed, at);
    const stored = await subscriptionOf(sql, guildId, id);
    return { status: 'changed' as const, subscription: stored! };
  }),

  importAll: write(async (sql, file, limits) => {
    const { guildId, userId: createdBy, added, changed, at } = file;
    const existing = await subscriptionsTo(sql, [...added, ...changed]);
    const facts = { existing, channels: await channelsOf(sql, guildId), book: await bookOf(sql, guildId) };
    const refusal = importRefusal(file, facts, limits);
    if (refusal) return refusal;
    for (const row of added) await insertSubscription(sql, importedSubscription(file, row));
    const before = new Map(existing.map((row) => [subscriptionKey(row), row]));
    for (const { change, ...place } of changed)
      await changeSubscription(sql, before.get(subscriptionKey(place))!, change, at);
    const names = namesInFile(file);
    // Two addresses may swap their names.
    await removeLabels(sql, guildId, [...names.keys()]);
    const given = [...names].flatMap(([address, name]) => (name === null ? [] : { address, name, createdBy, at }));
    await putLabels(sql, guildId, given);
    return 'imported' as const;
  }),

  mute: write(
    (sql, guildId, ids, until) =>
      sql.run`UPDATE subscriptions SET muted_until = ${until} WHERE guild_id = ${guildId} AND id ${isIn(ids)}`,
  ),

  remove: write(async (sql, guildId, id) => (await remove(sql, 'subscriptions', { guildId, id })) === 1),

  tokenMutes: report(
    (sql, guildId, now) =>
      sql.all`
        SELECT token, until FROM token_mutes WHERE guild_id = ${guildId} AND until > ${now} ORDER BY until, token`,
  ),

  muteToken: write(async (sql, guildId, token, until) => {
    await remove(sql, 'token_mutes', { guildId, token });
    if (until !== null) await insertAll(sql, 'token_mutes', [{ guildId, token, until }]);
  }),

  watching: report(async (sql, addresses) => {
    const found = await selected(sql, part`WHERE address ${isIn(addresses)} ORDER BY channel_id`);
    const byAddress = Map.groupBy(found, ({ address }) => address);
    return addresses.flatMap((address) => byAddress.get(address as AddressText) ?? []);
  }),
};

async function channelsOf(sql: Sql, guildId: string): Promise<Map<AddressText, number>> {
  const found = await sql.all<{ address: AddressText; channels: number }>`
    SELECT address, count(*) AS channels FROM subscriptions WHERE guild_id = ${guildId} GROUP BY address`;
  return new Map(found.map(({ address, channels }) => [address, channels]));
}

/** An import may add one that is paused or muted. */
type AddedSubscription = NewSubscription & Partial<Pick<Subscription, 'paused' | 'mutedUntil'>>;

/** The label is in the guild's address book. */
const { label: _, ...STORED_DEFAULTS } = { ...DEFAULT_CHOICES, network: null, paused: false, mutedUntil: null };

const insertSubscription = (sql: Sql, { label: _label, ...added }: AddedSubscription): Promise<number> =>
  insert(sql, 'subscriptions', { ...STORED_DEFAULTS, ...added });

async function changeSubscription(
  sql: Sql,
  before: Subscription,
  { filters, label: _label, ...rest }: SubscriptionChange,
  now: number,
): Promise<void> {
  const changed = filters ? { ...rest, filters: { ...before.filters, ...filters } } : rest;
  await update(sql, 'subscriptions', { id: before.id }, changed);
  const after = { ...before, ...rest };
  const isFree = ({ quiet, digest }: Subscription) => quiet === null && digest === null;
  if (isFree(after) ? !isFree(before) : before.holdAll && !after.holdAll)
    await release(sql, before, isFree(after), now);
}

/** Without `isAll`, only what leaves. Released alerts ping nobody who is in quiet hours. */
async function release(sql: Sql, { id, guildId }: Subscription, isAll: boolean, now: number): Promise<void> {
  const held = await sql.all<{ id: number; matches: StoredMatch[] }>`
    SELECT id, matches AS matches_json FROM alerts
    WHERE channel_id IN (SELECT channel_id FROM channels WHERE guild_id = ${guildId})
      AND state = 'waiting' AND hold IS NOT NULL AND significant >= ${!isAll}`;
  const isFreed = ({ subscription, perspective }: StoredMatch) => subscription === id && (isAll || leaves(perspective));
  const freed = held.filter(({ matches }) => matches.some(isFreed));
  if (freed.length === 0) return;
  await sql.run`UPDATE alerts SET due_at = created_at WHERE id ${isIn(freed.map((alert) => alert.id))}`;
  const timezone = await sql.value<string>`SELECT timezone FROM guilds WHERE guild_id = ${guildId}`;
  const quiet = await selected(sql, part`WHERE guild_id = ${guildId} AND quiet IS NOT NULL`);
  // Not at the start: what it imports takes 17 ms of the start of each thread, and 3 MB.
  const { isQuiet } = await import('../../domain/schedule.ts');
  const asleep = new Set(
    quiet.filter((subscription) => isQuiet(subscription, timezone, now)).map((subscription) => subscription.id),
  );
  const isPing = ({ mayMention, subscription }: StoredMatch) => mayMention && asleep.has(subscription);
  for (const { id: alertId, matches: stored } of freed) {
    if (!stored.some(isPing)) continue;
    const matches = stored.map((match) => (isPing(match) ? { ...match, mayMention: false } : match));
    await update(sql, 'alerts', { id: alertId }, { matches });
  }
}

async function subscriptionOf(sql: Sql, guildId: string, id: number): Promise<Subscription | null> {
  const [found] = await selected(sql, part`WHERE guild_id = ${guildId} AND id = ${id}`);
  return found ?? null;
}

/** In whatever guild. */
function subscriptionsTo(
  sql: Sql,
  wanted: readonly { address: AddressText; channelId: string; network?: number | null }[],
): Promise<Subscription[]> {
  const places = wanted.map(({ address, channelId, network }) => ({ address, channelId, network: network ?? -1 }));
  return selected(
    sql,
    part`WHERE (address, channel_id, coalesce(network, -1)) IN (
      SELECT * FROM ${rows(places, 'w (address text, channel_id text, network bigint)')})`,
  );
}

type Busy = Omit<Silence, 'feedAt'> & { network: number | null };

export const silence: QueriesOf<Silences> = {
  current: report((sql, guildId, now) =>
    silences(sql, part`AND guild_id = ${guildId} ORDER BY last_event_at`, (busy) => isSilent(busy, now)),
  ),

  unreported: report((sql, now) =>
    silences(sql, part`AND watch_silence = 1 AND silence_reported_at IS NULL ORDER BY id`, (busy) =>
      deservesNotice(busy, now),
    ),
  ),

  report: write(async (sql, notice, subscriptions) => {
    const reported = await sql.run`
      UPDATE activity_stats SET silence_reported_at = ${notice.now}
      WHERE subscription_id ${isIn(subscriptions)} AND silence_reported_at IS NULL`;
    if (reported > 0) await writeNotice(sql, notice);
    return reported > 0;
  }),
};

/** `feedAt`: when the projects of the address's guild last brought an event. */
async function silences(sql: Sql, rest: Part, isSought: (busy: Busy) => boolean): Promise<Silence[]> {
  const busy = await sql.all<Busy>`
    SELECT id AS subscription, guild_id, channel_id, address, network, ${LABEL_OF_SUBSCRIPTION} AS label, muted_until,
      last_event_at, gap_ms
    FROM activity_stats JOIN subscriptions ON id = subscription_id
    WHERE paused = 0 AND events >= ${BUSY.events} AND gap_ms <= ${BUSY.gapMs} ${rest}`;
  const silent: Silence[] = [];
  for (const { network, ...each } of busy.filter(isSought)) {
    const seen: number[] = [];
    for (const scope of await scopesOf(sql, each.guildId, network)) {
      const last = await sql.value<number>`SELECT max(seen_at) FROM transfers WHERE scope = ${scope}`;
      if (last !== null) seen.push(last);
    }
    silent.push({ ...each, feedAt: seen.length === 0 ? null : Math.max(...seen) });
  }
  return silent;
}
