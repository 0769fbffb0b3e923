import { activityCsv } from '../../src/discord/render/csv.ts';
import { balanceRows } from '../../src/discord/render/statement.ts';
import { type Activity, summarize } from '../../src/domain/activity.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { countedAssets, type StatementOutcome } from '../../src/domain/balance.ts';
import { inTime, SECOND } from '../../src/domain/clock.ts';
import { type ActivityQuery, type PostedIn, readMovements } from '../../src/domain/movements.ts';
import type { Network } from '../../src/domain/network.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import type { Store } from '../../src/store/store.ts';
import { namesByAddress } from '../shared/naming.ts';
import { eachNetwork } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';
import { knownIn } from '../shared/tokens.ts';

const MAX_BALANCE_WAIT_MS = 20 * SECOND;
const MAX_BALANCE_ASSETS = 6;

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

/** What an address had and has on one network. */
export interface NetworkBalances {
  network: number;
  outcome: StatementOutcome;
}

/** Sums up an address's activity. `known`: tokens that may have moved. */
export async function readActivity(
  store: Pick<Store, 'history'>,
  request: ActivityRequest,
  known: readonly KnownToken[],
): Promise<ActivityReport> {
  const { guildId, address, channelIds, since, until, timezone } = request;
  const { movements, cut } = movementsFor(store, request);
  const listed = new Set(known.flatMap(({ network, token, cataloged }) => (cataloged ? `${network} ${token}` : [])));
  const isListed = (network: number, token: AddressText) => listed.has(`${network} ${token}`);
  const activity = await summarize(address, movements, { since, now: until, timezone }, isListed);
  const ids = activity.largest.map(({ transferId }) => transferId);
  const messages = await store.history.postedIn(guildId, ids, channelIds);
  return { ...activity, messages: new Map(messages.map((one) => [one.transferId, one])), cut: cut() };
}

/** Writes an address's transfers to a CSV file; `left`: how many of the oldest ones do not fit. */
export async function readActivityFile(
  store: Pick<Store, 'history' | 'labels'>,
  request: ActivityRequest,
  balances: readonly NetworkBalances[] = [],
  networks: readonly Network[] = [],
): Promise<{ csv: string; left: number; cut: number | null }> {
  const names = await namesByAddress(request.guildId, store);
  const { movements, cut } = movementsFor(store, request);
  const rows = balances.flatMap(({ network, outcome }) => {
    const name = networks.length > 1 ? (networks.find(({ id }) => id === network)?.name ?? `#${network}`) : null;
    return outcome.status === 'read' ? [balanceRows(outcome.statement, name)] : [];
  });
  const around = { above: rows.flatMap(({ above }) => above), below: rows.flatMap(({ below }) => below) };
  const file = await activityCsv(movements, request.address, names, networks, around);
  return { ...file, cut: cut() };
}

function movementsFor({ history }: Pick<Store, 'history'>, { timezone: _, max, ...query }: ActivityRequest) {
  return readMovements((until, limit) => history.decidedTransfers({ ...query, until }, limit), query.until, max);
}

/** What an address had and has on each network with a node. */
export const readBalances = (
  { guildId, address, network: only = null, since, until }: ActivityRequest,
  context: Context,
): Promise<NetworkBalances[]> =>
  context.guildQueue.run(guildId, 'read', async () => {
    const found: NetworkBalances[] = [];
    for (const { chain, network, balances, statement } of eachNetwork(context, only)) {
      const { scope, wallets } =
        chain === null ? { scope: 0, wallets: [] } : await balances.wallets(guildId, network.id);
      const wallet = wallets.find((one) => one.address === address);
      if (!wallet) continue;
      const wants = countedAssets(await knownIn(guildId, context, network.id));
      const period = { since: Math.max(since, wallet.since), until };
      const request = { network: network.id, scope, address, ...period, max: MAX_BALANCE_ASSETS, wants };
      const outcome = (await inTime(statement(request), MAX_BALANCE_WAIT_MS, context)) ?? { status: 'away' as const };
      found.push({ network: network.id, outcome });
    }
    return found;
  });
