import { blocksLine, sumLine } from '../../src/discord/render/statement.ts';
import { countedAssets, type StatementOutcome } from '../../src/domain/balance.ts';
import { inTime, SECOND } from '../../src/domain/clock.ts';
import { eachNetwork, hasSeveral, titleOf } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';
import { knownIn, renderingOn } from '../shared/tokens.ts';
import type { ActivityRequest } from './read.ts';

const MAX_WAIT_MS = 20 * SECOND;
const MAX_ASSETS = 6;

/** What an address had and has on each network with a node. */
export const readBalances = (request: ActivityRequest, context: Context) =>
  context.guildQueue.run(request.guildId, 'read', () => readEach(request, context));

async function readEach(
  { guildId, address, network: only = null, since, until }: ActivityRequest,
  context: Context,
): Promise<{ network: number; outcome: StatementOutcome }[]> {
  const found: { network: number; outcome: StatementOutcome }[] = [];
  for (const { chain, network, balances, statement } of eachNetwork(context, only)) {
    const { scope, wallets } = chain === null ? { scope: 0, wallets: [] } : await balances.wallets(guildId, network.id);
    const wallet = wallets.find((one) => one.address === address);
    if (!wallet) continue;
    const wants = countedAssets(await knownIn(guildId, context, network.id));
    const period = { since: Math.max(since, wallet.since), until };
    const request = { network: network.id, scope, address, ...period, max: MAX_ASSETS, wants };
    const outcome = (await inTime(statement(request), MAX_WAIT_MS, context)) ?? ({ status: 'away' } as const);
    found.push({ network: network.id, outcome });
  }
  return found;
}

export async function balanceLines(
  { guildId }: ActivityRequest,
  all: Awaited<ReturnType<typeof readBalances>>,
  context: Context,
): Promise<string[]> {
  const { t, settings } = context;
  const known = await knownIn(guildId, context);
  return all.flatMap(({ network, outcome }) => {
    const rendering = renderingOn(context, network, known);
    const title = hasSeveral(settings) ? [`*${titleOf(network, settings)}*`] : [];
    if (outcome.status !== 'read') return [...title, `-# ${t(`activity.balance.${outcome.status}Yet`)}`];
    const { statement } = outcome;
    return [
      ...title,
      ...statement.sums.map((sum) => sumLine(sum, statement, rendering)),
      blocksLine(statement, rendering),
    ];
  });
}
