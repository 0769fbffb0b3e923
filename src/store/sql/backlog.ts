import type { Backlog } from '../../domain/overview.ts';

/** What counts of the backlog mean, whatever engine they are from. */

/** Blocked channels that a subscription names or alerts wait for. */
export const BLOCKED_CHANNELS = `FROM channels c WHERE state <> 'ready' AND (
  EXISTS (SELECT 1 FROM subscriptions s WHERE s.guild_id = c.guild_id AND s.channel_id = c.channel_id)
  OR EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = c.channel_id AND a.state = 'waiting')
  OR EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = c.channel_id AND b.state = 'frozen'))`;

/** Counts of messages and channels. */
export interface BegunRow extends Pick<Backlog, 'frozen' | 'deadLetters'> {
  /** When the oldest message was frozen that is not confirmed, in a channel that is not blocked; edits do not count. */
  begunAt: number | null;
  /** Alerts in the frozen messages of blocked channels. */
  frozenBlocked: number;
  parked: number;
  unreachable: number;
}

/** Puts the counts of a backlog together; `alerts`: of those that are in no message. */
export function toBacklog(
  { inbox, quarantine, alerts }: Pick<Backlog, 'inbox' | 'quarantine' | 'alerts'>,
  { frozen, begunAt, frozenBlocked, deadLetters, parked, unreachable }: BegunRow,
): Backlog {
  const since = [alerts.oldest, begunAt].filter((time) => time !== null);
  const oldest = since.length === 0 ? null : Math.min(...since);
  return {
    inbox,
    quarantine,
    alerts: { ...alerts, closed: alerts.closed + frozenBlocked, oldest },
    frozen,
    deadLetters,
    channels: { parked, unreachable },
  };
}
