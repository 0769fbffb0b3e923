/** Turns requests into transactions, and makes sure beforehand that they can succeed. */
import { formatEther, getAddress, keccak256, parseEther, parseUnits, toBytes } from 'viem';
import { callData } from './contracts.ts';
import type { Holdings } from './holdings.ts';
import { createBursts } from './plan-burst.ts';
import { createSupplyPlans } from './plan-supply.ts';
import { createPlanTools, type Planned } from './plan-tools.ts';
import { SUPPLY_IDS, shortId, type World } from './setup.ts';
import { type Address, type Chain, COIN_SYMBOL, type Party, type TransferRequest } from './types.ts';

const MAX_SWEEP = 50;

/** Returns the planner of a chain. Its methods return transactions to send. */
export function createPlans(world: World, holdings: Holdings) {
  const { tokens, contracts } = world;
  const tools = createPlanTools(world);
  const { addressOf, name, amountText, smallAmount, step } = tools;
  async function transfer(request: TransferRequest): Promise<Planned> {
    const from = addressOf(request.from);
    const to = addressOf(request.to);
    const sends = (what: string): string => `${name(request.from)} sends ${what} to ${name(request.to)}`;
    await holdings.ensureCoins(from);
    switch (request.kind) {
      case 'native':
      case 'internal': {
        const value = request.amount ?? parseEther('0.25') + step() * parseEther('0.01');
        const coins = `${formatEther(value)} ${COIN_SYMBOL}`;
        await holdings.ensureCoins(from, value);
        if (request.kind === 'native') return { call: { from, to, value }, summary: sends(coins) };
        const data = callData('Splitter', 'split', [[to]]);
        return { call: { from, to: contracts.splitter, data, value }, summary: sends(`${coins} through a contract`) };
      }
      case 'erc20': {
        const token = request.token ?? 'dollar';
        const amount = request.amount ?? smallAmount(token);
        await holdings.ensureErc20(token, from, amount);
        const data = callData('Coin', 'transfer', [to, amount]);
        return { call: { from, to: tokens[token].address, data }, summary: sends(amountText(token, amount)) };
      }
      case 'erc721': {
        const token = request.token ?? 'keys';
        const [id] = (await holdings.takeNfts(token, from, 1, request.id)) as [bigint];
        return {
          call: { from, to: tokens[token].address, data: callData('Collectible', 'transferFrom', [from, to, id]) },
          summary: sends(`${tokens[token].symbol} #${shortId(id)}`),
          nfts: { token, from, to, ids: [id] },
        };
      }
      case 'erc1155': {
        const amount = request.amount ?? 1n + (step() % 5n);
        const ids = request.batch === true ? SUPPLY_IDS : [request.id ?? SUPPLY_IDS[0]];
        for (const id of ids) await holdings.ensureErc1155(from, id, amount);
        const data =
          request.batch === true
            ? callData('Supplies', 'safeBatchTransferFrom', [from, to, ids, ids.map(() => amount), '0x'])
            : callData('Supplies', 'safeTransferFrom', [from, to, ids[0], amount, '0x']);
        const what = `${amount} × ${tokens.supplies.symbol} ${ids.map((id) => `#${id}`).join(', ')}`;
        return { call: { from, to: tokens.supplies.address, data }, summary: sends(what) };
      }
    }
  }

  async function swap(who: Party, amount = parseUnits('150', 6)): Promise<Planned> {
    const from = addressOf(who);
    const bought = (amount * 10n ** 12n * 8n) / 10n;
    await holdings.ensureCoins(from);
    await holdings.ensureErc20('dollar', from, amount);
    await holdings.ensureErc20('bell', contracts.swap, bought);
    const data = callData('Swap', 'swap', [tokens.dollar.address, amount, tokens.bell.address, bought]);
    return {
      call: { from, to: contracts.swap, data },
      summary: `${name(who)} swaps ${amountText('dollar', amount)} for ${amountText('bell', bought)}`,
    };
  }

  async function sweep(request: { from: Party; to: Party; count: number }): Promise<Planned> {
    const { count: size } = request;
    if (!Number.isInteger(size) || size < 1 || size > MAX_SWEEP)
      throw new RangeError(`A sweep moves 1 to ${MAX_SWEEP} NFTs.`);
    const from = addressOf(request.from);
    const to = addressOf(request.to);
    await holdings.ensureCoins(from);
    const ids = await holdings.takeNfts('keys', from, size);
    return {
      call: { from, to: contracts.mover, data: callData('Mover', 'sweep', [tokens.keys.address, to, ids]) },
      summary: `${name(request.from)} sends ${size} ${tokens.keys.symbol} to ${name(request.to)} in one transaction`,
      nfts: { token: 'keys', from, to, ids },
    };
  }

  async function identicalTransfers({
    from: party,
    to,
    amount = parseUnits('40', 6),
  }: Parameters<Chain['identicalTransfers']>[0]) {
    const from = addressOf(party);
    await holdings.ensureCoins(from);
    await holdings.ensureErc20('dollar', from, amount * 2n);
    const data = callData('Mover', 'identicalTransfers', [tokens.dollar.address, addressOf(to), amount]);
    return {
      call: { from, to: contracts.mover, data },
      summary: `${name(party)} sends ${amountText('dollar', amount)} twice to ${name(to)} in one transaction`,
    };
  }

  return {
    transfer,
    burst: createBursts(holdings, tools, transfer),
    swap,
    sweep,
    ...createSupplyPlans(world, holdings, tools),
    identicalTransfers,
    /** Records who holds the NFTs afterwards: the receiver, or the sender when the transaction failed. */
    recordOwner(nfts: Planned['nfts'], owner: Address | undefined): void {
      if (nfts !== undefined && owner !== undefined) holdings.addNfts(nfts.token, owner, nfts.ids);
    },
    /** Returns another address with the same first and last four hex digits. */
    lookalike(like: Party): Address {
      const model = addressOf(like).toLowerCase();
      const middle = keccak256(toBytes(`${model} ${step()}`)).slice(2, 34);
      return getAddress(`${model.slice(0, 6)}${middle}${model.slice(-4)}`);
    },
  };
}
