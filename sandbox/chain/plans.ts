import { formatEther, getAddress, keccak256, parseEther, parseUnits, toBytes } from 'viem';
import type { Call } from './anvil.ts';
import { callData } from './contracts.ts';
import type { Holdings, MovedNfts } from './holdings.ts';
import { amountOf, nameOf, SUPPLY_IDS, tokenCall, type World } from './setup.ts';
import {
  type Address,
  type Chain,
  COIN_SYMBOL,
  type Erc20Name,
  type Party,
  type TokenName,
  type TransferRequest,
  WALLET_NAMES,
  type WalletName,
} from './types.ts';

const MAX_SWEEP = 50;
const MAX_BURST = 500;
const BURST = [
  { kind: 'erc20', token: 'dollar' },
  { kind: 'native' },
  { kind: 'erc20', token: 'bell' },
  { kind: 'internal' },
  { kind: 'erc1155' },
  { kind: 'erc721' },
] as const;

export interface Planned {
  call: Call;
  summary: string;
  nfts?: MovedNfts;
}

type Pair = { from: Party; to: Party };

export function createPlans(world: World, holdings: Holdings) {
  const { tokens, contracts } = world;
  let count = 0;
  const addressOf = (party: Party): Address =>
    party.startsWith('0x') ? getAddress(party) : world.wallets[party as WalletName];
  const name = (party: Party): string => nameOf(world, party);
  const what = (token: TokenName, amount: bigint, ids?: readonly bigint[]): string =>
    amountOf(world, token, amount, ids);

  /** Makes default amounts differ from one transfer to the next. */
  function step(): bigint {
    count++;
    return BigInt(count % 10);
  }

  function smallAmount(token: Erc20Name): bigint {
    const { decimals } = tokens[token];
    return parseUnits('12.5', decimals) + step() * parseUnits('0.75', decimals);
  }

  async function transfer(request: TransferRequest): Promise<Planned> {
    const from = addressOf(request.from);
    const to = addressOf(request.to);
    const sends = (text: string): string => `${name(request.from)} sends ${text} to ${name(request.to)}`;
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
        await holdings.ensure(token, from, amount);
        const call = tokenCall(world, from, token, 'transfer', [to, amount]);
        return { call, summary: sends(what(token, amount)) };
      }
      case 'erc721': {
        const token = request.token ?? 'keys';
        const ids = await holdings.takeNfts(token, from, 1, request.id);
        const call = tokenCall(world, from, token, 'transferFrom', [from, to, ids[0]]);
        return { call, summary: sends(what(token, 1n, ids)), nfts: { token, from, to, ids } };
      }
      case 'erc1155': {
        const amount = request.amount ?? 1n + (step() % 5n);
        const ids = request.batch === true ? SUPPLY_IDS : [request.id ?? SUPPLY_IDS[0]];
        for (const id of ids) await holdings.ensure('supplies', from, amount, id);
        const call =
          request.batch === true
            ? tokenCall(world, from, 'supplies', 'safeBatchTransferFrom', [from, to, ids, ids.map(() => amount), '0x'])
            : tokenCall(world, from, 'supplies', 'safeTransferFrom', [from, to, ids[0], amount, '0x']);
        return { call, summary: sends(what('supplies', amount, ids)) };
      }
    }
  }

  function burstRequest(index: number, pair: Pair): TransferRequest {
    const next = BURST[index % BURST.length]!;
    // An NFT that has to be minted first would be one more transaction.
    if (next.kind === 'erc721' && !holdings.hasNft('keys', addressOf(pair.from))) return { kind: 'native', ...pair };
    return { ...next, ...pair };
  }

  async function burst(size: number, between?: Pair): Promise<Planned[]> {
    if (!Number.isInteger(size) || size < 1 || size > MAX_BURST)
      throw new RangeError(`A burst has 1 to ${MAX_BURST} transfers.`);
    const others = WALLET_NAMES.filter((wallet) => wallet !== 'Treasury');
    const planned: Planned[] = [];
    for (let index = 0; index < size; index++) {
      const other = others[index % others.length]!;
      const pair = between ?? (index % 3 === 2 ? { from: 'Treasury', to: other } : { from: other, to: 'Treasury' });
      planned.push(await transfer(burstRequest(index, pair)));
    }
    return planned;
  }

  async function swap(who: Party): Promise<Planned> {
    const from = addressOf(who);
    const amount = parseUnits('150', tokens.dollar.decimals);
    const bought = parseUnits('120', tokens.bell.decimals);
    await holdings.ensureCoins(from);
    await holdings.ensure('dollar', from, amount);
    await holdings.ensure('bell', contracts.swap, bought);
    const data = callData('Swap', 'swap', [tokens.dollar.address, amount, tokens.bell.address, bought]);
    return {
      call: { from, to: contracts.swap, data },
      summary: `${name(who)} swaps ${what('dollar', amount)} for ${what('bell', bought)}`,
    };
  }

  async function sweep(request: Pair & { count: number }): Promise<Planned> {
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

  async function mint({ to: party, token = 'dollar' }: Parameters<Chain['mint']>[0]): Promise<Planned> {
    const to = addressOf(party);
    const summary = (text: string): string => `${text} is minted to ${name(party)}`;
    const call = (...args: unknown[]): Call => tokenCall(world, world.deployer, token, 'mint', [to, ...args]);
    if (token === 'keys' || token === 'names') {
      const id = holdings.freshId(token);
      return { call: call(id), summary: summary(what(token, 1n, [id])), nfts: { token, to, ids: [id] } };
    }
    const [id] = SUPPLY_IDS;
    if (token === 'supplies') return { call: call(id, 5n), summary: summary(what(token, 5n, [id])) };
    const amount = parseUnits('500', tokens[token].decimals);
    return { call: call(amount), summary: summary(what(token, amount)) };
  }

  async function burn({ from: party, token = 'dollar' }: Parameters<Chain['burn']>[0]): Promise<Planned> {
    const from = addressOf(party);
    const summary = (text: string): string => `${name(party)} burns ${text}`;
    const call = (...args: unknown[]): Call => tokenCall(world, from, token, 'burn', args);
    await holdings.ensureCoins(from);
    if (token === 'keys' || token === 'names') {
      const ids = await holdings.takeNfts(token, from, 1);
      return { call: call(ids[0]), summary: summary(what(token, 1n, ids)), nfts: { token, from, ids } };
    }
    if (token === 'supplies') {
      const [id] = SUPPLY_IDS;
      await holdings.ensure('supplies', from, 2n, id);
      return { call: call(id, 2n), summary: summary(what(token, 2n, [id])) };
    }
    const amount = parseUnits('20', tokens[token].decimals);
    await holdings.ensure(token, from, amount);
    return { call: call(amount), summary: summary(what(token, amount)) };
  }

  async function identicalTransfers(request: Parameters<Chain['identicalTransfers']>[0]): Promise<Planned> {
    const { from: party, to, amount = parseUnits('40', 6) } = request;
    const from = addressOf(party);
    await holdings.ensureCoins(from);
    await holdings.ensure('dollar', from, amount * 2n);
    const data = callData('Mover', 'identicalTransfers', [tokens.dollar.address, addressOf(to), amount]);
    return {
      call: { from, to: contracts.mover, data },
      summary: `${name(party)} sends ${what('dollar', amount)} twice to ${name(to)} in one transaction`,
    };
  }

  function lookalike(like: Party): Address {
    const model = addressOf(like).toLowerCase();
    const middle = keccak256(toBytes(`${model} ${step()}`)).slice(2, 34);
    return getAddress(`${model.slice(0, 6)}${middle}${model.slice(-4)}`);
  }

  return { transfer, burst, swap, sweep, mint, burn, identicalTransfers, lookalike };
}
