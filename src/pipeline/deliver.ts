import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Outcome, Sender } from '../discord/sender.ts';
import type { Clock } from '../domain/clock.ts';
import type { Batch, ChannelHead, ClaimedAlert } from '../store/outbox.ts';
import type { Store } from '../store/tables.ts';
import { backoff, createPace } from './pace.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Alerts that go into one message at the most. */
const BATCH = 10;
/** A channel's backlog from which on its alerts are told as a digest. */
const DIGEST_LINES = 50;
const DIGEST_AGE_MS = 30 * MINUTE;
/** Alerts of one digest; Discord takes files of 10 MB. */
const DIGEST_MOST = 20_000;
/** Requests under way at once. */
const MAX_IN_FLIGHT = 40;
/** Discord forgets a nonce after a few minutes; from then on a repeat looks for its message first. */
const NONCE_MS = 2 * MINUTE;
const GIVE_UP_MS = 72 * HOUR;
const PARKED_RETRIES = [15 * MINUTE, HOUR, 6 * HOUR];
const KEPT: Record<'parked' | 'paused', number> = { parked: 7 * DAY, paused: 30 * DAY };
/** Pause after a failed call to the database. */
const STORE_PAUSE_MS = 1_000;

/** What the deliverer needs. Both renderers put `reference` into the message, so that it can be found again. */
export interface DelivererOptions {
  store: Store;
  sender: Sender;
  clock: Clock;
  log: Logger;
  random?: () => number;
  render(alerts: ClaimedAlert[], reference: string): { payload: object; used: number };
  renderPlain(alert: ClaimedAlert, reference: string): object;
  renderDigest(alerts: ClaimedAlert[], reference: string): { payload: object; csv: string | null };
}

interface Channel {
  id: string;
  guildId: string | null;
  dueAt: number;
  busy: boolean;
  /** Parked or paused, as far as is known. */
  aside: boolean;
  /** Nudged while busy. */
  again: boolean;
  /** Alerts to take next; smaller while a refused line is being searched for. */
  limit: number;
  /** The next single alert goes out as plain text. */
  plain: boolean;
}

/** Brings alerts to Discord: one message in flight per channel, first in first out, channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, sender, clock, log, render, renderPlain, renderDigest, random = Math.random } = options;
  const pace = createPace(clock);
  const channels = new Map<string, Channel>();
  const removedGuilds = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let cancelTimer: (() => void) | null = null;
  let closing = false;
  let looked = clock.now();

  function add(id: string, guildId: string | null, dueAt: number, aside = false): void {
    const known = channels.get(id);
    if (known) known.again = true;
    else channels.set(id, { id, guildId, dueAt, busy: false, aside, again: false, limit: BATCH, plain: false });
  }

  function pump(): void {
    cancelTimer?.();
    cancelTimer = null;
    if (closing) return;
    const now = clock.now();
    // A clock that was set back must not hold a channel for as long.
    const back = Math.max(0, looked - now);
    looked = now;
    for (const channel of channels.values()) channel.dueAt -= back;
    let next = Number.POSITIVE_INFINITY;
    // Channels that begin move to the back and are met there once more, busy.
    for (const channel of channels.values()) {
      if (channel.busy) continue;
      if (channel.dueAt > now) {
        next = Math.min(next, channel.dueAt - now);
        continue;
      }
      if (underWay.size >= MAX_IN_FLIGHT) return;
      const wait = pace.take();
      if (wait > 0) {
        next = Math.min(next, wait);
        break;
      }
      begin(channel);
    }
    if (next < Number.POSITIVE_INFINITY) cancelTimer = clock.after(next, pump);
  }

  function begin(channel: Channel): void {
    // To the back of the queue: channels take turns.
    channels.delete(channel.id);
    channels.set(channel.id, channel);
    channel.busy = true;
    channel.again = false;
    const work: Promise<void> = serve(channel)
      .catch((error: unknown) => {
        pace.giveBack();
        channel.dueAt = clock.now() + STORE_PAUSE_MS;
        if (!closing) log.error({ err: error, channel: channel.id }, 'delivery paused');
      })
      .finally(() => {
        channel.busy = false;
        underWay.delete(work);
        pump();
      });
    underWay.add(work);
  }

  async function serve(channel: Channel): Promise<void> {
    const claim = await store.outbox.claim(channel.id, channel.limit);
    const { head, alerts } = claim;
    if (!claim.batch && alerts.length === 0) {
      if (!channel.again) channels.delete(channel.id);
      return pace.giveBack();
    }
    if (channel.guildId === null && head) {
      // First met by a nudge: what is known about the channel counts.
      channel.guildId = head.guildId;
      channel.dueAt = head.dueAt;
      channel.aside = head.state !== 'ready';
      if (head.dueAt > clock.now()) return pace.giveBack();
    }
    const { batch, outcome, searched } = claim.batch
      ? await repeat(channel, { ...claim.batch, alerts: claim.waiting }, alerts)
      : await sendNew(channel, claim);
    const told = batch.alerts;
    // Only an attempt that is the first one of which Discord may know can be undone by its answer.
    const certain = !claim.batch?.unsure && !searched;
    await settle(channel, head, { ...batch, alerts: told, certain }, outcome);
    log[outcome.status === 'sent' ? 'info' : 'warn'](
      { channel: channel.id, batch: batch.id, kind: batch.kind, lines: told, attempt: batch.attempts, outcome },
      'delivery',
    );
  }

  async function sendNew(channel: Channel, claim: { alerts: ClaimedAlert[]; waiting: number; oldest: number | null }) {
    const now = clock.now();
    const reference = randomBytes(7).toString('base64url').replace(/[-_]/g, 'x').toUpperCase();
    const nonce = `${now.toString(36)}${reference}`.slice(0, 25);
    const { kind, payload, csv, ids } = await compose(channel, claim, reference, now);
    const frozen = { channelId: channel.id, kind, nonce, reference, payload: JSON.stringify(payload), attachment: csv };
    const id = await store.outbox.freeze(frozen, ids, now);
    const outcome = await sender.create(channel.id, payload, nonce, csv);
    return { batch: { id, kind, attempts: 1, frozenAt: now, alerts: ids.length }, outcome, searched: false };
  }

  /** Renders what goes out next: lines, one plain line, or a digest of everything that waits. */
  async function compose(
    channel: Channel,
    { alerts, waiting, oldest }: { alerts: ClaimedAlert[]; waiting: number; oldest: number | null },
    reference: string,
    now: number,
  ) {
    const idsOf = (list: ClaimedAlert[]) => list.map((alert) => alert.id);
    if (channel.plain) {
      const payload = renderPlain(alerts[0]!, reference);
      return { kind: 'create' as const, payload, csv: null, ids: idsOf(alerts.slice(0, 1)) };
    }
    const late = oldest !== null && now - oldest > DIGEST_AGE_MS && waiting > BATCH;
    // While a refused line is being searched for, lines go out one by one.
    if (channel.limit === BATCH && (waiting > DIGEST_LINES || late)) {
      const all = await store.outbox.waiting(channel.id, DIGEST_MOST);
      return { kind: 'digest' as const, ...renderDigest(all, reference), ids: idsOf(all) };
    }
    const { payload, used } = render(alerts, reference);
    return { kind: 'create' as const, payload, csv: null, ids: idsOf(alerts.slice(0, used)) };
  }

  async function repeat(channel: Channel, batch: Batch & { alerts: number }, alerts: ClaimedAlert[]) {
    const now = clock.now();
    const done = { ...batch, attempts: batch.attempts + 1 };
    if (batch.kind === 'edit') {
      // A message that never came to be, or is gone, needs no change.
      if (batch.messageId === null || alerts.length === 0) {
        return { batch: done, outcome: { status: 'sent', messageId: null } as Outcome, searched: false };
      }
      await store.outbox.attempt(batch.id, now);
      const { payload } = render(alerts, batch.reference);
      return { batch: done, outcome: await sender.edit(channel.id, batch.messageId, payload), searched: false };
    }
    if (batch.unsure && batch.firstSentAt !== null && Math.abs(now - batch.firstSentAt) > NONCE_MS) {
      const found = await sender.find(channel.id, batch.reference, batch.firstSentAt);
      if (found.status === 'found') {
        return { batch: done, outcome: { status: 'sent', messageId: found.messageId } as Outcome, searched: true };
      }
      // A search that failed says nothing: the message stays as unsure as it was.
      if (found.status !== 'absent' && found.status !== 'unknown')
        return { batch: done, outcome: found, searched: true };
    }
    await store.outbox.attempt(batch.id, now);
    const outcome = await sender.create(channel.id, JSON.parse(batch.payload) as object, batch.nonce, batch.attachment);
    return { batch: done, outcome, searched: false };
  }

  async function settle(
    channel: Channel,
    head: ChannelHead | null,
    batch: Pick<Batch, 'id' | 'kind' | 'attempts' | 'frozenAt'> & { alerts: number; certain: boolean },
    outcome: Outcome,
  ): Promise<void> {
    const now = clock.now();
    const notTaken = async () => {
      if (batch.certain) await store.outbox.notTaken(batch.id);
    };
    switch (outcome.status) {
      case 'sent':
        pace.answered('fine');
        await store.outbox.sent(batch.id, outcome.messageId, now);
        if (head && head.state !== 'ready')
          await mark(channel, 'ready', { dueAt: 0, attempts: 0, since: null, reason: null });
        channel.dueAt = 0;
        channel.aside = false;
        channel.plain = false;
        channel.limit = Math.min(BATCH, channel.limit * 2);
        return;
      case 'rate-limited':
        channel.dueAt = now + outcome.retryAfterMs;
        if (outcome.local) pace.giveBack();
        else pace.answered(outcome.global ? 'global' : 'invalid', outcome.retryAfterMs);
        return notTaken();
      case 'unsure':
        pace.answered('unsure');
        channel.dueAt = now + backoff(batch.attempts, random);
        if (now - batch.frozenAt > GIVE_UP_MS) await store.outbox.dead(batch.id, `72 hours: ${outcome.reason}`, now);
        return;
      case 'breaker':
        pace.answered('breaker');
        return notTaken();
      case 'unauthorised':
        pace.answered('unauthorised');
        return notTaken();
      case 'forbidden':
        pace.answered('invalid');
        await notTaken();
        // A process that started after the bot was removed has only the channel's state to tell it.
        return setAside(
          channel,
          head,
          head?.state === 'paused' || removedGuilds.has(channel.guildId ?? '') ? 'paused' : 'parked',
          outcome.code,
        );
      case 'gone':
        pace.answered('fine');
        await notTaken();
        return setAside(channel, head, 'paused', outcome.code);
      case 'refused':
        pace.answered('fine');
        return refused(channel, batch, outcome.reason);
    }
  }

  /** Searches for the one bad line by halves; that one goes out plain; if even that is refused, it is a dead letter. */
  async function refused(
    channel: Channel,
    batch: { id: number; kind: Batch['kind']; alerts: number },
    reason: string,
  ): Promise<void> {
    if (batch.kind === 'edit') return store.outbox.sent(batch.id, null, clock.now());
    if (batch.alerts > 1) {
      channel.limit = Math.min(Math.ceil(batch.alerts / 2), BATCH / 2);
      return store.outbox.thaw(batch.id);
    }
    if (!channel.plain) {
      channel.limit = 1;
      channel.plain = true;
      return store.outbox.thaw(batch.id);
    }
    channel.plain = false;
    channel.limit = BATCH;
    return store.outbox.dead(batch.id, reason, clock.now());
  }

  /** A channel that cannot be written to keeps its alerts for days and is tried again now and then. */
  async function setAside(
    channel: Channel,
    head: ChannelHead | null,
    state: 'parked' | 'paused',
    code: number,
  ): Promise<void> {
    const now = clock.now();
    const known = head?.state === state ? head : null;
    const since = known?.since ?? now;
    const attempts = known?.attempts ?? 0;
    const reason = state === 'parked' ? `missing permissions (${code})` : `channel or server is gone (${code})`;
    const before = now - KEPT[state];
    if (since < before) await store.outbox.expire(channel.id, before, `${reason} for too long`, now);
    channel.aside = true;
    channel.dueAt = now + PARKED_RETRIES[Math.min(attempts, PARKED_RETRIES.length - 1)]!;
    await mark(channel, state, { dueAt: channel.dueAt, attempts: attempts + 1, since, reason });
  }

  function mark(
    channel: Channel,
    state: ChannelHead['state'],
    rest: { dueAt: number; attempts: number; since: number | null; reason: string | null },
  ): Promise<void> {
    return store.outbox.setChannel({ channelId: channel.id, state, ...rest });
  }

  async function load(): Promise<void> {
    if (closing) return;
    try {
      for (const { channelId, guildId, dueAt, state } of await store.outbox.heads())
        add(channelId, guildId, dueAt, state !== 'ready');
      pump();
    } catch (error) {
      if (closing) return;
      log.error({ err: error }, 'delivery paused');
      clock.after(STORE_PAUSE_MS, () => void load());
    }
  }
  const loaded = load();

  return {
    /** Settles once what an earlier process left is known. */
    loaded,
    /** Looks for what waits without having been nudged for. */
    look: load,
    /** These channels have something new. */
    nudge(channelIds: string[]): void {
      for (const id of channelIds) add(id, null, 0);
      pump();
    },
    /** Permissions or channels of a guild changed: what was set aside there, and nothing else, is tried at once. */
    guildChanged(guildId: string): void {
      removedGuilds.delete(guildId);
      for (const channel of channels.values()) if (channel.aside && channel.guildId === guildId) channel.dueAt = 0;
      pump();
    },
    /** The bot was removed from a guild. */
    guildRemoved: (guildId: string): void => void removedGuilds.add(guildId),
    state: pace.state,
    /** Settles once nothing is under way. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    /** Lets what is under way finish, for five seconds at most; the rest is frozen on disk. */
    async close(): Promise<void> {
      closing = true;
      cancelTimer?.();
      const patience = new Promise<void>((resolve) => void clock.after(5_000, resolve));
      await Promise.race([Promise.allSettled(underWay), patience]);
    },
  };
}
