import { activityCsv } from '../../src/discord/csv.ts';
import { type Activity, summarize } from '../../src/domain/activity.ts';
import { type ActivityQuery, type PostedIn, readMovements } from '../../src/domain/movements.ts';
import type { Store } from '../../src/store/store.ts';
import { namesByAddress } from '../shared/naming.ts';

/** A request for an address's activity; beyond `max` transfers only the latest count. */
export interface ActivityRequest extends ActivityQuery {
  timezone: string;
  max: number;
}

/** An address's activity, with the messages that show its largest transfers. */
export interface ActivityReport extends Activity {
  messages: Map<number, PostedIn>;
  /** How many transfers were summed up, if there were more; null: all of them. */
  cut: number | null;
}

/** Sums up an address's activity. */
export async function readActivity(store: Pick<Store, 'history'>, request: ActivityRequest): Promise<ActivityReport> {
  const { guildId, address, channelIds, since, until, timezone } = request;
  const { movements, cut } = movementsFor(store, request);
  const activity = await summarize(address, movements, { since, now: until, timezone });
  const ids = activity.largest.map(({ transferId }) => transferId);
  const messages = await store.history.postedIn(guildId, ids, channelIds);
  return { ...activity, messages: new Map(messages.map((one) => [one.transferId, one])), cut: cut() };
}

/** Writes an address's transfers to a CSV file; `left`: how many of the oldest ones do not fit. */
export async function readActivityFile(
  store: Pick<Store, 'history' | 'labels'>,
  request: ActivityRequest,
): Promise<{ csv: string; left: number; cut: number | null }> {
  const names = await namesByAddress(request.guildId, store);
  const { movements, cut } = movementsFor(store, request);
  const file = await activityCsv(movements, request.address, names);
  return { ...file, cut: cut() };
}

function movementsFor({ history }: Pick<Store, 'history'>, { timezone: _, max, ...query }: ActivityRequest) {
  return readMovements((until, limit) => history.decidedTransfers({ ...query, until }, limit), query.until, max);
}
