import type { Batch } from '../domain/batch.ts';
import type { ChannelHead } from '../domain/channel.ts';
import { type Clock, DAY, HOUR, MINUTE } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';
import type { Store } from '../store/store.ts';
import { BATCH } from './compose.ts';
import { backoff, type createPace } from './rate-limit.ts';
import type { Channel } from './scheduler.ts';

type OutcomeOf<Status extends SendOutcome['status']> = Extract<SendOutcome, { status: Status }>;

const GIVE_UP_MS = 72 * HOUR;
/** Where nothing can be told it is tried again after so long, at first. */
export const SET_ASIDE_MS = 15 * MINUTE;
const PARKED_RETRIES = [SET_ASIDE_MS, HOUR, 6 * HOUR];
const KEPT: Record<'parked' | 'paused', number> = { parked: 7 * DAY, paused: 30 * DAY };

/** A message that an attempt was made for. */
export interface Attempted extends Pick<Batch, 'id' | 'kind' | 'attempts' | 'frozenAt'> {
  /** Alerts in it. */
  lines: number;
  /** It holds no lines of its own, only makes a sent message say what is known now. */
  isChange: boolean;
  /** Nobody but this attempt can have brought it to Discord. */
  certain: boolean;
  /** An earlier attempt may have brought it there, but the channel's history cannot be read. */
  blind?: boolean;
}

/**
 * What settling needs; `nudge` wakes another channel, `finished` hears of one that has nothing more, `isRemoved` knows the
 * guilds that the bot was removed from.
 */
export interface SettlerOptions {
  store: Store;
  clock: Clock;
  pace: ReturnType<typeof createPace>;
  random: () => number;
  /** What an admin reads of a channel that cannot be written to; must be safe for Discord. */
  renderParked(channelId: string, code: number, language: string | null): { title: string; text: string };
  isRemoved(guildId: string | null): boolean;
  nudge(channelId: string): void;
  finished(channel: Channel): void;
}

/** The pause before another blind repeat. Each may post one more copy, so there are only a few in the three days. */
const blindPause = (age: number): number => Math.min(Math.max(age, 15 * MINUTE), 6 * HOUR);

/** Makes the function that acts on an attempt's outcome: for the message, for its channel, for all sending. */
export function createSettler({
  store,
  clock,
  pace,
  random,
  renderParked,
  isRemoved,
  nudge,
  finished,
}: SettlerOptions) {
  async function settle(
    channel: Channel,
    head: ChannelHead | null,
    batch: Attempted,
    outcome: SendOutcome,
  ): Promise<void> {
    switch (outcome.status) {
      case 'sent':
        pace.answered('fine');
        return sent(channel, head, batch, outcome.messageId);
      case 'rate-limited':
        if (!outcome.local) pace.answered(outcome.global ? 'global' : 'invalid', outcome.retryAfterMs);
        return limited(channel, batch, outcome);
      case 'unsure':
        pace.answered('unsure');
        return unsure(channel, batch, outcome);
      case 'breaker':
        pace.answered('breaker', outcome.retryAfterMs);
        return notTaken(batch);
      case 'unauthorised':
        pace.answered('unauthorised');
        return notTaken(batch);
      case 'forbidden':
        pace.answered('invalid');
        await notTaken(batch);
        // A process that started after the bot was removed has only the channel's state to tell it.
        return setAside(
          channel,
          head,
          head?.state === 'paused' || isRemoved(channel.guildId) ? 'paused' : 'parked',
          outcome.code,
        );
      case 'gone':
        pace.answered('fine');
        await notTaken(batch);
        return setAside(channel, head, 'paused', outcome.code);
      case 'refused':
        pace.answered('fine');
        return refused(channel, batch, outcome.reason);
    }
  }

  async function sent(channel: Channel, head: ChannelHead | null, batch: Attempted, messageId: string | null) {
    const more = await taken(batch, messageId, clock.now());
    if (head && head.state !== 'ready')
      await mark(channel, 'ready', { dueAt: 0, attempts: 0, since: null, reason: null });
    channel.dueAt = 0;
    channel.aside = false;
    channel.plain = false;
    channel.limit = Math.min(BATCH, channel.limit * 2);
    if (!more) finished(channel);
  }

  async function limited(channel: Channel, batch: Attempted, { retryAfterMs, global }: OutcomeOf<'rate-limited'>) {
    // Changes of a message that somebody published may wait for 20 minutes; what was to join it has one of its own.
    if (batch.kind === 'edit' && !batch.isChange && batch.certain && retryAfterMs > MINUTE && !global)
      return store.outbox.markEditFailed(batch.id, null, clock.now());
    postpone(channel, batch, retryAfterMs);
    return notTaken(batch);
  }

  async function unsure(channel: Channel, batch: Attempted, { reason, retryAfterMs = 0 }: OutcomeOf<'unsure'>) {
    const now = clock.now();
    const own = batch.blind ? blindPause(now - batch.frozenAt) : backoff(batch.attempts, random);
    postpone(channel, batch, Math.max(own, retryAfterMs));
    if (now - batch.frozenAt > GIVE_UP_MS) await store.outbox.deadLetter(batch.id, `72 hours: ${reason}`, now);
  }

  /** A mere change must not hold back new lines: Discord has a limit of its own for changes. */
  function postpone(channel: Channel, { isChange }: Attempted, ms: number): void {
    channel[isChange ? 'changesAt' : 'dueAt'] = clock.now() + ms;
  }

  /** Nothing came of the attempt, which says so of the message as well if no earlier one can have brought it there. */
  async function notTaken({ id, certain }: Attempted): Promise<void> {
    if (certain) await store.outbox.markNotSent(id);
  }

  /** Notes that Discord has it; tells whether the channel may have more to be sent. */
  async function taken({ id, kind }: Attempted, messageId: string | null, now: number): Promise<boolean> {
    if (kind !== 'edit') return store.outbox.markSent(id, messageId, now);
    // A message that is gone cannot tell of what was to join it.
    await (messageId === null ? store.outbox.markEditFailed(id, null, now) : store.outbox.markEdited(id, now));
    return true;
  }

  /** Searches for the one bad line by halves; that one goes out plain; if even that is refused, it is a dead letter. */
  async function refused(channel: Channel, batch: Attempted, reason: string): Promise<void> {
    const now = clock.now();
    switch (batch.kind) {
      case 'edit':
      case 'notice':
        return store.outbox.deadLetter(batch.id, reason, now);
      case 'create':
      case 'digest':
    }
    if (batch.lines > 1) {
      channel.limit = Math.min(Math.ceil(batch.lines / 2), BATCH / 2);
      return store.outbox.unfreeze(batch.id);
    }
    if (!channel.plain) {
      channel.limit = 1;
      channel.plain = true;
      return store.outbox.unfreeze(batch.id);
    }
    channel.plain = false;
    channel.limit = BATCH;
    return store.outbox.deadLetter(batch.id, reason, now);
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
    const rest = { dueAt: channel.dueAt, attempts: attempts + 1, since, reason };
    if (state === 'parked' && !known && head) await park(channel, head.guildId, code, rest);
    else await mark(channel, state, rest);
  }

  /** Parks a channel and has the admins told of it elsewhere: once, whatever happens in between. */
  async function park(channel: Channel, guildId: string, code: number, rest: Parameters<typeof mark>[2]) {
    const elsewhere = await store.channels.channelForNotices(guildId, channel.id);
    if (elsewhere === null) return mark(channel, 'parked', rest);
    const language = await store.guilds.language(guildId);
    const words = renderParked(channel.id, code, language);
    await store.channels.setState(
      { channelId: channel.id, state: 'parked', ...rest },
      { guildId, channelId: elsewhere, ...words, now: clock.now(), closed: channel.id },
    );
    nudge(elsewhere);
  }

  function mark(
    channel: Channel,
    state: ChannelHead['state'],
    rest: { dueAt: number; attempts: number; since: number | null; reason: string | null },
  ): Promise<void> {
    return store.channels.setState({ channelId: channel.id, state, ...rest });
  }

  return settle;
}
