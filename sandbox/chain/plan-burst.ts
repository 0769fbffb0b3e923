import type { Holdings } from './holdings.ts';
import type { Planned, PlanTools } from './plan-tools.ts';
import { SUPPLY_IDS } from './setup.ts';
import { type Address, type Party, type TransferRequest, WALLET_NAMES, type WalletName } from './types.ts';

const MAX_BURST = 500;

/** Returns the planner of bursts. */
export function createBursts(
  holdings: Holdings,
  { addressOf, smallAmount, step }: PlanTools,
  transfer: (request: TransferRequest) => Promise<Planned>,
) {
  async function mixed(index: number, pair: { from: Party; to: Party }, budget: Budget): Promise<TransferRequest> {
    const from = addressOf(pair.from);
    const kind = (['dollar', 'native', 'bell', 'internal', 'supplies', 'keys'] as const)[index % 6]!;
    switch (kind) {
      case 'native':
      case 'internal':
        return { kind, ...pair };
      case 'dollar':
      case 'bell': {
        const amount = smallAmount(kind);
        if (await budget(kind, from, amount)) return { kind: 'erc20', token: kind, amount, ...pair };
        break;
      }
      case 'supplies': {
        const amount = 1n + (step() % 5n);
        if (await budget('supplies', from, amount)) return { kind: 'erc1155', amount, ...pair };
        break;
      }
      case 'keys':
        if (holdings.hasNft('keys', from)) return { kind: 'erc721', ...pair };
    }
    return { kind: 'native', ...pair };
  }

  /**
   * Plans transfers of all kinds for one block. Each sender spends only what it holds before the block: where a token
   * runs short, coins are sent instead.
   */
  return async function burst(size: number, between?: { from: Party; to: Party }): Promise<Planned[]> {
    if (!Number.isInteger(size) || size < 1 || size > MAX_BURST)
      throw new RangeError(`A burst has 1 to ${MAX_BURST} transfers.`);
    const others = WALLET_NAMES.filter((wallet) => wallet !== 'Treasury');
    const budget = createBudget(holdings);
    const planned: Planned[] = [];
    for (let index = 0; index < size; index++) {
      const other = others[index % others.length] as WalletName;
      const pair = between ?? (index % 3 === 2 ? { from: 'Treasury', to: other } : { from: other, to: 'Treasury' });
      planned.push(await transfer(await mixed(index, pair, budget)));
    }
    const coins = Map.groupBy(planned, ({ call }) => call.from);
    for (const [from, calls] of coins)
      await holdings.ensureCoins(
        from,
        calls.reduce((sum, { call }) => sum + (call.value ?? 0n), 0n),
      );
    return planned;
  };
}

/** Reserves an amount for a transfer in this block. Returns whether the address still has that much. */
type Budget = (token: 'dollar' | 'bell' | 'supplies', owner: Address, amount: bigint) => Promise<boolean>;

function createBudget(holdings: Holdings): Budget {
  const left = new Map<string, bigint>();
  return async (token, owner, amount) => {
    const key = `${token} ${owner}`;
    const has =
      left.get(key) ??
      (token === 'supplies'
        ? await holdings.balance(token, owner, SUPPLY_IDS[0])
        : await holdings.balance(token, owner));
    left.set(key, has >= amount ? has - amount : has);
    return has >= amount;
  };
}
