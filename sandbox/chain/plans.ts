import { formatEther, formatUnits, getAddress, keccak256, parseEther, parseUnits, toBytes } from 'viem';
import { callData } from './contracts.ts';
import type { Call } from './driver.ts';
import type { Holdings } from './holdings.ts';
import { supplyIds, type World } from './setup.ts';
import {
  type Address,
  type Chain,
  type Erc20Name,
  type Erc721Name,
  type Party,
  type TransferRequest,
  type WalletName,
  walletNames,
} from './types.ts';

/** A transaction that is ready to be sent, in words, and the NFTs that it moves out of their owner's hands. */
export interface Planned {
  call: Call;
  summary: string;
  /** `from` and `to` are absent for a mint and a burn. */
  pieces?: { token: Erc721Name; from?: Address; to?: Address; ids: readonly bigint[] };
}

/** Turns wishes into transactions, after seeing to it that they can succeed. */
export class Plans {
  readonly #world: World;
  readonly #holdings: Holdings;
  #count = 0;

  constructor(world: World, holdings: Holdings) {
    this.#world = world;
    this.#holdings = holdings;
  }

  async transfer(request: TransferRequest): Promise<Planned> {
    const from = this.#address(request.from);
    const to = this.#address(request.to);
    const tell = (what: string) => `${this.#name(request.from)} sends ${what} to ${this.#name(request.to)}`;
    switch (request.kind) {
      case 'native':
      case 'internal': {
        const value = request.amount ?? parseEther('0.25') + this.#step() * parseEther('0.01');
        const coins = value === parseEther('1') ? '1 coin' : `${formatEther(value)} coins`;
        await this.#holdings.coins(from, value);
        if (request.kind === 'native') return { call: { from, to, value }, summary: tell(coins) };
        const call = this.#call(from, this.#world.contracts.splitter, callData('Splitter', 'split', [[to]]), value);
        return { call, summary: tell(`${coins} through a contract`) };
      }
      case 'erc20': {
        const token = request.token ?? 'dollar';
        const { address, decimals } = this.#world.tokens[token];
        const amount = request.amount ?? parseUnits('12.5', decimals) + this.#step() * parseUnits('0.75', decimals);
        await this.#holdings.coins(from);
        await this.#holdings.erc20(token, from, amount);
        return {
          call: this.#call(from, address, callData('Coin', 'transfer', [to, amount])),
          summary: tell(this.#amount(token, amount)),
        };
      }
      case 'erc721': {
        const token = request.token ?? 'keys';
        const { address, symbol } = this.#world.tokens[token];
        await this.#holdings.coins(from);
        const [id] = (await this.#holdings.take(token, from, 1, request.id)) as [bigint];
        return {
          call: this.#call(from, address, callData('Collectible', 'transferFrom', [from, to, id])),
          summary: tell(`${symbol} #${shortId(id)}`),
          pieces: { token, from, to, ids: [id] },
        };
      }
      case 'erc1155':
        return this.#supplies(request, from, to, tell);
    }
  }

  async burst(count: number, between?: { from: Party; to: Party }): Promise<Planned[]> {
    if (!Number.isInteger(count) || count < 1 || count > 500) throw new RangeError('A burst has 1 to 500 transfers');
    const others = walletNames.filter((name) => name !== 'Treasury');
    const planned: Planned[] = [];
    for (let index = 0; index < count; index++) {
      const other = others[index % others.length] as WalletName;
      const pair = between ?? (index % 3 === 2 ? { from: 'Treasury', to: other } : { from: other, to: 'Treasury' });
      planned.push(await this.transfer(this.#mixed(index, pair)));
    }
    return planned;
  }

  async swap(who: Party, amount = parseUnits('150', 6)): Promise<Planned> {
    const from = this.#address(who);
    const { dollar, bell } = this.#world.tokens;
    const { swap } = this.#world.contracts;
    const bought = (amount * 10n ** 12n * 8n) / 10n;
    await this.#holdings.coins(from);
    await this.#holdings.erc20('dollar', from, amount);
    await this.#holdings.erc20('bell', swap, bought);
    return {
      call: this.#call(from, swap, callData('Swap', 'swap', [dollar.address, amount, bell.address, bought])),
      summary: `${this.#name(who)} swaps ${this.#amount('dollar', amount)} for ${this.#amount('bell', bought)}`,
    };
  }

  async sweep(request: { from: Party; to: Party; count: number }): Promise<Planned> {
    const { count } = request;
    if (!Number.isInteger(count) || count < 1 || count > 50) throw new RangeError('A sweep moves 1 to 50 NFTs');
    const from = this.#address(request.from);
    const to = this.#address(request.to);
    const { keys } = this.#world.tokens;
    await this.#holdings.coins(from);
    const ids = await this.#holdings.take('keys', from, count);
    return {
      call: this.#call(from, this.#world.contracts.mover, callData('Mover', 'sweep', [keys.address, to, ids])),
      summary: `${this.#name(request.from)} sends ${count} ${keys.symbol} at once to ${this.#name(request.to)}`,
      pieces: { token: 'keys', from, to, ids },
    };
  }

  async mint({ to, token = 'dollar', amount }: Parameters<Chain['mint']>[0]): Promise<Planned> {
    const receiver = this.#address(to);
    const { type, symbol, decimals } = this.#world.tokens[token];
    const tell = (what: string) => `${what} is minted to ${this.#name(to)}`;
    if (token === 'keys' || token === 'names') {
      const id = this.#holdings.freshId(token);
      return {
        call: this.#holdings.mint(token, [receiver, id]),
        summary: tell(`${symbol} #${shortId(id)}`),
        pieces: { token, to: receiver, ids: [id] },
      };
    }
    const value = amount ?? (type === 'ERC-20' ? parseUnits('500', decimals) : 5n);
    if (token === 'supplies') {
      const [id] = supplyIds;
      return { call: this.#holdings.mint(token, [receiver, id, value]), summary: tell(`${value} × ${symbol} #${id}`) };
    }
    return { call: this.#holdings.mint(token, [receiver, value]), summary: tell(this.#amount(token, value)) };
  }

  async burn({ from: party, token = 'dollar', amount }: Parameters<Chain['burn']>[0]): Promise<Planned> {
    const from = this.#address(party);
    const { address, type, symbol, decimals } = this.#world.tokens[token];
    const tell = (what: string) => `${this.#name(party)} burns ${what}`;
    await this.#holdings.coins(from);
    if (token === 'keys' || token === 'names') {
      const [id] = (await this.#holdings.take(token, from, 1)) as [bigint];
      const call = this.#call(from, address, callData('Collectible', 'burn', [id]));
      return { call, summary: tell(`${symbol} #${shortId(id)}`), pieces: { token, from, ids: [id] } };
    }
    const value = amount ?? (type === 'ERC-20' ? parseUnits('20', decimals) : 2n);
    if (token === 'supplies') {
      const [id] = supplyIds;
      await this.#holdings.erc1155(from, id, value);
      const call = this.#call(from, address, callData('Supplies', 'burn', [id, value]));
      return { call, summary: tell(`${value} × ${symbol} #${id}`) };
    }
    await this.#holdings.erc20(token, from, value);
    return {
      call: this.#call(from, address, callData('Coin', 'burn', [value])),
      summary: tell(this.#amount(token, value)),
    };
  }

  async twins({ from: party, to, amount = parseUnits('40', 6) }: Parameters<Chain['twins']>[0]): Promise<Planned> {
    const from = this.#address(party);
    const data = callData('Mover', 'twins', [this.#world.tokens.dollar.address, this.#address(to), amount]);
    await this.#holdings.coins(from);
    await this.#holdings.erc20('dollar', from, amount * 2n);
    return {
      call: this.#call(from, this.#world.contracts.mover, data),
      summary: `${this.#name(party)} sends ${this.#amount('dollar', amount)} twice in one transaction to ${this.#name(to)}`,
    };
  }

  /** Notes in whose hands NFTs ended up: the receiver's, or again the sender's when it failed. */
  settle(pieces: Planned['pieces'], owner: Address | undefined): void {
    if (pieces !== undefined && owner !== undefined) this.#holdings.give(pieces.token, owner, pieces.ids);
  }

  /** Another address that begins and ends with the same four hex digits. */
  lookalike(like: Party): Address {
    const model = this.#address(like).toLowerCase();
    const middle = keccak256(toBytes(`${model} ${this.#step()}`)).slice(2, 34);
    return getAddress(`${model.slice(0, 6)}${middle}${model.slice(-4)}`);
  }

  async #supplies(
    request: TransferRequest & { kind: 'erc1155' },
    from: Address,
    to: Address,
    tell: (what: string) => string,
  ): Promise<Planned> {
    const { address, symbol } = this.#world.tokens.supplies;
    const amount = request.amount ?? 1n + (this.#step() % 5n);
    const ids = request.batch === true ? supplyIds : [request.id ?? supplyIds[0]];
    await this.#holdings.coins(from);
    for (const id of ids) await this.#holdings.erc1155(from, id, amount);
    const data =
      request.batch === true
        ? callData('Supplies', 'safeBatchTransferFrom', [from, to, ids, ids.map(() => amount), '0x'])
        : callData('Supplies', 'safeTransferFrom', [from, to, ids[0], amount, '0x']);
    return {
      call: this.#call(from, address, data),
      summary: tell(`${amount} × ${symbol} ${ids.map((id) => `#${id}`).join(', ')}`),
    };
  }

  #mixed(index: number, pair: { from: Party; to: Party }): TransferRequest {
    switch (index % 6) {
      case 0:
        return { kind: 'erc20', token: 'dollar', ...pair };
      case 1:
        return { kind: 'native', ...pair };
      case 2:
        return { kind: 'erc20', token: 'bell', ...pair };
      case 3:
        return { kind: 'internal', ...pair };
      case 4:
        return { kind: 'erc1155', ...pair };
      default:
        return this.#holdings.has('keys', this.#address(pair.from))
          ? { kind: 'erc721', ...pair }
          : { kind: 'erc20', token: 'dollar', ...pair };
    }
  }

  #call(from: Address, to: Address, data: NonNullable<Call['data']>, value = 0n): Call {
    return { from, to, data, value };
  }

  /** 0 to 9 in turn: amounts differ from one transfer to the next. */
  #step(): bigint {
    this.#count += 1;
    return BigInt(this.#count % 10);
  }

  #address(party: Party): Address {
    return party.startsWith('0x') ? getAddress(party) : this.#world.wallets[party as WalletName];
  }

  #name(party: Party): string {
    return party.startsWith('0x') ? `${party.slice(0, 6)}…${party.slice(-4)}` : party;
  }

  #amount(token: Erc20Name, amount: bigint): string {
    const { symbol, decimals } = this.#world.tokens[token];
    const name = {
      dollar: symbol,
      bell: symbol,
      hostile: 'of a token with a hostile name',
      fake: `of a fake ${symbol}`,
    };
    return `${formatUnits(amount, decimals)} ${name[token]}`;
  }
}

function shortId(id: bigint): string {
  const text = id.toString();
  return text.length > 12 ? `${text.slice(0, 4)}…${text.slice(-4)}` : text;
}
