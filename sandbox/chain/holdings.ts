/** Tracks who owns what, and mints what an action lacks. */
import { type Hex, parseEther } from 'viem';
import type { Anvil, Call } from './anvil.ts';
import { callResult } from './contracts.ts';
import { amountOf, contractOf, nameId, nameOf, shortId, tokenCall, type World } from './setup.ts';
import type { Address, Erc20Name, Erc721Name, Mined } from './types.ts';

/** More than the payments and fees of one address in the largest burst. */
const COINS_FOR_A_BURST = parseEther('500');

/** `from` is absent for a mint, `to` for a burn. */
export interface MovedNfts {
  token: Erc721Name;
  from?: Address;
  to?: Address;
  ids: readonly bigint[];
}

export type Holdings = ReturnType<typeof createHoldings>;

export function createHoldings(anvil: Anvil, world: World, onMinted: (mined: Mined) => void) {
  const nfts: Record<Erc721Name, Map<Address, bigint[]>> = { keys: new Map(), names: new Map() };
  for (const { token, owner, ids } of world.nfts) nfts[token].set(owner, [...ids]);
  const wallets = new Set<Address>(Object.values(world.wallets));
  let lastId = 1000;

  const held = (token: Erc721Name, owner: Address): bigint[] => nfts[token].get(owner) ?? [];
  const mint = (token: keyof World['tokens'], functionName: string, args: readonly unknown[]): Call =>
    tokenCall(world, world.deployer, token, functionName, args);

  async function mintNow(call: Call, what: string, owner: Address): Promise<void> {
    const [receipt] = await anvil.send([call]);
    const { hash, blockNumber } = receipt!;
    onMinted({ hash, blockNumber, summary: `${what} minted to ${nameOf(world, owner)} for the next transfer` });
  }

  async function balance(token: keyof World['tokens'], owner: Address, ids: readonly bigint[]): Promise<bigint> {
    const call = tokenCall(world, owner, token, 'balanceOf', [owner, ...ids]);
    return callResult(contractOf(token), 'balanceOf', await anvil.rpc<Hex>('eth_call', [call, 'latest'])) as bigint;
  }

  function freshId(token: Erc721Name): bigint {
    lastId++;
    return token === 'keys' ? BigInt(lastId) : nameId(lastId);
  }

  return {
    /** Makes sure that `owner` can pay `wei` and the fees. Coins appear without a transaction. */
    async ensureCoins(owner: Address, wei = 0n): Promise<void> {
      const needed = wei + COINS_FOR_A_BURST;
      if (BigInt(await anvil.rpc<Hex>('eth_getBalance', [owner, 'latest'])) < needed)
        await anvil.setCoins(owner, needed + 10n * COINS_FOR_A_BURST);
    },
    /** Makes sure that `owner` holds `amount` of an ERC-20, or of the ERC-1155's `id`. */
    async ensure(token: Erc20Name | 'supplies', owner: Address, amount: bigint, ...id: bigint[]): Promise<void> {
      const has = await balance(token, owner, id);
      if (has >= amount) return;
      const text = (value: bigint): string => amountOf(world, token, value, id);
      // An unrequested mint to a wallet would appear as an alert.
      if (wallets.has(owner))
        throw new RangeError(`${nameOf(world, owner)} holds only ${text(has)}. Send less, or mint some first.`);
      const missing = amount - has;
      await mintNow(mint(token, 'mint', [owner, ...id, missing]), `${text(missing)} is`, owner);
    },
    /** Takes `count` NFTs, or the wanted one. Mints what is missing first. */
    async takeNfts(token: Erc721Name, owner: Address, count: number, wanted?: bigint): Promise<bigint[]> {
      const owned = held(token, owner);
      const isHeld = wanted !== undefined && owned.includes(wanted);
      const short = Array.from({ length: Math.max(0, count - owned.length) });
      const missing = wanted === undefined ? short.map(() => freshId(token)) : isHeld ? [] : [wanted];
      if (missing.length > 0) {
        const { symbol } = world.tokens[token];
        const what = missing.length === 1 ? `${symbol} #${shortId(missing[0]!)} is` : `${missing.length} ${symbol} are`;
        await mintNow(mint(token, 'mintMany', [owner, missing]), what, owner);
        owned.push(...missing);
      }
      const taken = wanted === undefined ? owned.slice(0, count) : [wanted];
      const kept = owned.filter((id) => !taken.includes(id));
      nfts[token].set(owner, kept);
      return taken;
    },
    /** After a transaction, the NFTs belong to the receiver, or again to the sender if it failed. */
    addNfts(moved: MovedNfts | undefined, owner: Address | undefined): void {
      if (moved && owner) nfts[moved.token].set(owner, [...held(moved.token, owner), ...moved.ids]);
    },
    hasNft: (token: Erc721Name, owner: Address): boolean => held(token, owner).length > 0,
    freshId,
  };
}
