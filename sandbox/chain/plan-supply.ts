/** Plans mints and burns. */
import { parseUnits } from 'viem';
import { callData } from './contracts.ts';
import type { Holdings } from './holdings.ts';
import type { Planned, PlanTools } from './plan-tools.ts';
import { SUPPLY_IDS, shortId, type World } from './setup.ts';
import type { Chain } from './types.ts';

/** Returns the planner of mints and burns. */
export function createSupplyPlans({ tokens }: World, holdings: Holdings, { addressOf, name, amountText }: PlanTools) {
  async function mint({ to, token = 'dollar', amount }: Parameters<Chain['mint']>[0]): Promise<Planned> {
    const receiver = addressOf(to);
    const { type, symbol, decimals } = tokens[token];
    const summary = (what: string): string => `${what} is minted to ${name(to)}`;
    if (token === 'keys' || token === 'names') {
      const id = holdings.freshId(token);
      return {
        call: holdings.mint(token, [receiver, id]),
        summary: summary(`${symbol} #${shortId(id)}`),
        nfts: { token, to: receiver, ids: [id] },
      };
    }
    const value = amount ?? (type === 'ERC-20' ? parseUnits('500', decimals) : 5n);
    if (token === 'supplies') {
      const [id] = SUPPLY_IDS;
      return { call: holdings.mint(token, [receiver, id, value]), summary: summary(`${value} × ${symbol} #${id}`) };
    }
    return { call: holdings.mint(token, [receiver, value]), summary: summary(amountText(token, value)) };
  }

  async function burn({ from: party, token = 'dollar', amount }: Parameters<Chain['burn']>[0]): Promise<Planned> {
    const from = addressOf(party);
    const { address, type, symbol, decimals } = tokens[token];
    const summary = (what: string): string => `${name(party)} burns ${what}`;
    await holdings.ensureCoins(from);
    if (token === 'keys' || token === 'names') {
      const [id] = (await holdings.takeNfts(token, from, 1)) as [bigint];
      const call = { from, to: address, data: callData('Collectible', 'burn', [id]) };
      return { call, summary: summary(`${symbol} #${shortId(id)}`), nfts: { token, from, ids: [id] } };
    }
    const value = amount ?? (type === 'ERC-20' ? parseUnits('20', decimals) : 2n);
    if (token === 'supplies') {
      const [id] = SUPPLY_IDS;
      await holdings.ensureErc1155(from, id, value);
      const call = { from, to: address, data: callData('Supplies', 'burn', [id, value]) };
      return { call, summary: summary(`${value} × ${symbol} #${id}`) };
    }
    await holdings.ensureErc20(token, from, value);
    const call = { from, to: address, data: callData('Coin', 'burn', [value]) };
    return { call, summary: summary(amountText(token, value)) };
  }

  return { mint, burn };
}
