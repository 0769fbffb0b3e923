import { type Hex, parseEther } from 'viem';
import { callData, callResult } from './contracts.ts';
import type { Call, Driver, Rpc } from './driver.ts';
import { contractOf, nameId, type World } from './setup.ts';
import type { Address, Erc20Name, Erc721Name } from './types.ts';

/** Knows who owns what, and mints what is missing for an action to succeed. */
export class Holdings {
  readonly #driver: Driver;
  readonly #rpc: Rpc;
  readonly #world: World;
  readonly #pieces: Record<Erc721Name, Map<Address, bigint[]>> = { keys: new Map(), names: new Map() };
  #minted = 1000;

  constructor(driver: Driver, rpc: Rpc, world: World) {
    this.#driver = driver;
    this.#rpc = rpc;
    this.#world = world;
    for (const { token, owner, ids } of world.pieces) this.#pieces[token].set(owner, [...ids]);
  }

  /** Sees to it that an address can pay `wei` and the fee. */
  async coins(owner: Address, wei = 0n): Promise<void> {
    const needed = wei + parseEther('1');
    if (BigInt(await this.#rpc<Hex>('eth_getBalance', [owner, 'latest'])) < needed) {
      await this.#driver.setCoins(owner, needed + parseEther('100'));
    }
  }

  /** Sees to it that an address has `amount` of an ERC-20. */
  async erc20(token: Erc20Name, owner: Address, amount: bigint): Promise<void> {
    const held = await this.#balance(token, [owner]);
    if (held < amount) await this.#driver.send([this.mint(token, [owner, amount - held])]);
  }

  /** Sees to it that an address has `amount` of an id of the ERC-1155. */
  async erc1155(owner: Address, id: bigint, amount: bigint): Promise<void> {
    const held = await this.#balance('supplies', [owner, id]);
    if (held < amount) await this.#driver.send([this.mint('supplies', [owner, id, amount - held])]);
  }

  /** Takes `count` NFTs, or the one asked for, out of an address's hands, minted before where it has too few. */
  async take(token: Erc721Name, owner: Address, count: number, wanted?: bigint): Promise<bigint[]> {
    const held = this.#held(token, owner);
    const missing =
      wanted === undefined
        ? Array.from({ length: Math.max(0, count - held.length) }, () => this.freshId(token))
        : held.includes(wanted)
          ? []
          : [wanted];
    if (missing.length > 0) {
      await this.#driver.send([this.mint(token, [owner, missing], 'mintMany')]);
      held.push(...missing);
    }
    const taken = wanted === undefined ? held.slice(0, count) : [wanted];
    this.#pieces[token].set(
      owner,
      held.filter((id) => !taken.includes(id)),
    );
    return taken;
  }

  /** Puts NFTs into an address's hands, after they were moved there. */
  give(token: Erc721Name, owner: Address, ids: readonly bigint[]): void {
    this.#pieces[token].set(owner, [...this.#held(token, owner), ...ids]);
  }

  /** Whether an address has an NFT to give. */
  has(token: Erc721Name, owner: Address): boolean {
    return this.#held(token, owner).length > 0;
  }

  /** An id that was never minted. */
  freshId(token: Erc721Name): bigint {
    this.#minted += 1;
    return token === 'keys' ? BigInt(this.#minted) : nameId(this.#minted);
  }

  /** The call that mints, from the deployer. */
  mint(token: keyof World['tokens'], args: readonly unknown[], functionName = 'mint'): Call {
    const { deployer, tokens } = this.#world;
    return { from: deployer, to: tokens[token].address, data: callData(contractOf(token), functionName, args) };
  }

  #held(token: Erc721Name, owner: Address): bigint[] {
    return this.#pieces[token].get(owner) ?? [];
  }

  async #balance(token: keyof World['tokens'], args: readonly unknown[]): Promise<bigint> {
    const contract = contractOf(token);
    const data = callData(contract, 'balanceOf', args);
    const answer = await this.#rpc<Hex>('eth_call', [{ to: this.#world.tokens[token].address, data }, 'latest']);
    return callResult(contract, 'balanceOf', answer) as bigint;
  }
}
