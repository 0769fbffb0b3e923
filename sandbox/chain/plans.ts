/** Turns requests into transactions, and makes sure beforehand that they can succeed. */
import { formatEther, formatUnits, getAddress, keccak256, parseEther, parseUnits, toBytes } from 'viem';
import { callData } from './contracts.ts';
import type { Call } from './driver.ts';
import type { Holdings } from './holdings.ts';
import { nameOf, SUPPLY_IDS, shortId, type World } from './setup.ts';
import {
  type Address,
  type Chain,
  type Erc20Name,
  type Erc721Name,
  type Party,
  type TransferRequest,
  WALLET_NAMES,
  type WalletName,
} from './types.ts';

/** A transaction that is ready to be sent, its summary, and the NFTs that it moves. */
export interface Planned {
  call: Call;
  summary: string;
  /** `from` is absent for a mint, `to` for a burn. */
  pieces?: { token: Erc721Name; from?: Address; to?: Address; ids: readonly bigint[] };
}

const MAX_BURST = 500;
const MAX_SWEEP = 50;

/** Returns the planner of a chain: each method returns what is to be sent. Default amounts differ from one transfer to the next. */
export function createPlans(world: World, holdings: Holdings) {
  const { tokens, contracts } = world;
  let count = 0;
  const step = (): bigint => {
    count += 1;
    return BigInt(count % 10);
  };
  const addressOf = (party: Party): Address =>
    party.startsWith('0x') ? getAddress(party) : world.wallets[party as WalletName];
  const name = (party: Party): string => nameOf(world, party);
  const amountText = (token: Erc20Name, amount: bigint): string => {
    const { symbol, decimals } = tokens[token];
    const what = { dollar: symbol, bell: symbol, hostile: 'of a hostile token', fake: `of a fake ${symbol}` };
    return `${formatUnits(amount, decimals)} ${what[token]}`;
  };
  const smallAmount = (token: Erc20Name): bigint => {
    const { decimals } = tokens[token];
    return parseUnits('12.5', decimals) + step() * parseUnits('0.75', decimals);
  };

  async function transfer(request: TransferRequest): Promise<Planned> {
    const from = addressOf(request.from);
    const to = addressOf(request.to);
    const sends = (what: string): string => `${name(request.from)} sends ${what} to ${name(request.to)}`;
    await holdings.coins(from);
    switch (request.kind) {
      case 'native':
      case 'internal': {
        const value = request.amount ?? parseEther('0.25') + step() * parseEther('0.01');
        const coins = value === parseEther('1') ? '1 coin' : `${formatEther(value)} coins`;
        await holdings.coins(from, value);
        if (request.kind === 'native') return { call: { from, to, value }, summary: sends(coins) };
        const data = callData('Splitter', 'split', [[to]]);
        return { call: { from, to: contracts.splitter, data, value }, summary: sends(`${coins} through a contract`) };
      }
      case 'erc20': {
        const token = request.token ?? 'dollar';
        const amount = request.amount ?? smallAmount(token);
        await holdings.erc20(token, from, amount);
        const data = callData('Coin', 'transfer', [to, amount]);
        return { call: { from, to: tokens[token].address, data }, summary: sends(amountText(token, amount)) };
      }
      case 'erc721': {
        const token = request.token ?? 'keys';
        const [id] = (await holdings.take(token, from, 1, request.id)) as [bigint];
        return {
          call: { from, to: tokens[token].address, data: callData('Collectible', 'transferFrom', [from, to, id]) },
          summary: sends(`${tokens[token].symbol} #${shortId(id)}`),
          pieces: { token, from, to, ids: [id] },
        };
      }
      case 'erc1155': {
        const amount = request.amount ?? 1n + (step() % 5n);
        const ids = request.batch === true ? SUPPLY_IDS : [request.id ?? SUPPLY_IDS[0]];
        for (const id of ids) await holdings.erc1155(from, id, amount);
        const data =
          request.batch === true
            ? callData('Supplies', 'safeBatchTransferFrom', [from, to, ids, ids.map(() => amount), '0x'])
            : callData('Supplies', 'safeTransferFrom', [from, to, ids[0], amount, '0x']);
        const what = `${amount} × ${tokens.supplies.symbol} ${ids.map((id) => `#${id}`).join(', ')}`;
        return { call: { from, to: tokens.supplies.address, data }, summary: sends(what) };
      }
    }
  }

  /**
   * Plans transfers of all kinds for one block. Each sender spends only what it holds before the block: where a token
   * runs short, coins are sent instead.
   */
  async function burst(size: number, between?: { from: Party; to: Party }): Promise<Planned[]> {
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
      await holdings.coins(
        from,
        calls.reduce((sum, { call }) => sum + (call.value ?? 0n), 0n),
      );
    return planned;
  }

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
        if (holdings.has('keys', from)) return { kind: 'erc721', ...pair };
    }
    return { kind: 'native', ...pair };
  }

  async function swap(who: Party, amount = parseUnits('150', 6)): Promise<Planned> {
    const from = addressOf(who);
    const bought = (amount * 10n ** 12n * 8n) / 10n;
    await holdings.coins(from);
    await holdings.erc20('dollar', from, amount);
    await holdings.erc20('bell', contracts.swap, bought);
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
    await holdings.coins(from);
    const ids = await holdings.take('keys', from, size);
    return {
      call: { from, to: contracts.mover, data: callData('Mover', 'sweep', [tokens.keys.address, to, ids]) },
      summary: `${name(request.from)} sends ${size} ${tokens.keys.symbol} to ${name(request.to)} in one transaction`,
      pieces: { token: 'keys', from, to, ids },
    };
  }

  async function mint({ to, token = 'dollar', amount }: Parameters<Chain['mint']>[0]): Promise<Planned> {
    const receiver = addressOf(to);
    const { type, symbol, decimals } = tokens[token];
    const summary = (what: string): string => `${what} is minted to ${name(to)}`;
    if (token === 'keys' || token === 'names') {
      const id = holdings.freshId(token);
      return {
        call: holdings.mint(token, [receiver, id]),
        summary: summary(`${symbol} #${shortId(id)}`),
        pieces: { token, to: receiver, ids: [id] },
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
    await holdings.coins(from);
    if (token === 'keys' || token === 'names') {
      const [id] = (await holdings.take(token, from, 1)) as [bigint];
      const call = { from, to: address, data: callData('Collectible', 'burn', [id]) };
      return { call, summary: summary(`${symbol} #${shortId(id)}`), pieces: { token, from, ids: [id] } };
    }
    const value = amount ?? (type === 'ERC-20' ? parseUnits('20', decimals) : 2n);
    if (token === 'supplies') {
      const [id] = SUPPLY_IDS;
      await holdings.erc1155(from, id, value);
      const call = { from, to: address, data: callData('Supplies', 'burn', [id, value]) };
      return { call, summary: summary(`${value} × ${symbol} #${id}`) };
    }
    await holdings.erc20(token, from, value);
    const call = { from, to: address, data: callData('Coin', 'burn', [value]) };
    return { call, summary: summary(amountText(token, value)) };
  }

  async function twins({ from: party, to, amount = parseUnits('40', 6) }: Parameters<Chain['twins']>[0]) {
    const from = addressOf(party);
    await holdings.coins(from);
    await holdings.erc20('dollar', from, amount * 2n);
    const data = callData('Mover', 'twins', [tokens.dollar.address, addressOf(to), amount]);
    return {
      call: { from, to: contracts.mover, data },
      summary: `${name(party)} sends ${amountText('dollar', amount)} twice to ${name(to)} in one transaction`,
    };
  }

  return {
    transfer,
    burst,
    swap,
    sweep,
    mint,
    burn,
    twins,
    /** Records who holds the NFTs afterwards: the receiver, or the sender when the transaction failed. */
    settle(pieces: Planned['pieces'], owner: Address | undefined): void {
      if (pieces !== undefined && owner !== undefined) holdings.give(pieces.token, owner, pieces.ids);
    },
    /** Returns another address with the same first and last four hex digits. */
    lookalike(like: Party): Address {
      const model = addressOf(like).toLowerCase();
      const middle = keccak256(toBytes(`${model} ${step()}`)).slice(2, 34);
      return getAddress(`${model.slice(0, 6)}${middle}${model.slice(-4)}`);
    },
  };
}

/** Returns whether an address can still spend the amount in this block, and reserves it if so. */
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
