import { BUSY, deservesNotice, isSilent, type Silence } from '../../domain/silence.ts';
import { isIn, type Part, part, type QueriesOf, report, type Sql, write } from '../sql.ts';
import type { Silences } from '../store.ts';
import { writeNotice } from './channels.ts';
import { scopesOf } from './projects.ts';
import { LABEL_OF_SUBSCRIPTION } from './subscriptions.ts';

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

/** Those busy addresses that `isSought` picks, with when the projects of each one's guild last brought an event. */
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
