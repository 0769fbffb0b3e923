/** Tracks who owns what, and provides what an action needs to succeed. */
import { formatUnits, type Hex, parseEther } from 'viem';
import { callData, callResult } from './contracts.ts';
import type { Call, Driver, Rpc } from './driver.ts';
import { contractOf, nameId, nameOf, shortId, type World } from './setup.ts';
import type { Address, Erc20Name, Erc721Name, Mined } from './types.ts';

/** Balances and NFTs of every address. */
export interface Holdings {
  /** Makes sure that an address can pay `wei` and the fees. Coins appear without a transaction. */
  ensureCoins(owner: Address, wei?: bigint): Promise<void>;
  /**
   * Makes sure that an address holds `amount` of an ERC-20. An address that is not a wallet gets the rest minted.
   *
   * @throws RangeError when a wallet holds less: an unrequested mint would appear as an alert.
   */
  ensureErc20(token: Erc20Name, owner: Address, amount: bigint): Promise<void>;
  /** Makes sure that an address holds `amount` of one id of the ERC-1155. */
  ensureErc1155(owner: Address, id: bigint, amount: bigint): Promise<void>;
  /** Removes `count` NFTs, or the wanted one, from an address. Mints what is missing first. */
  takeNfts(token: Erc721Name, owner: Address, count: number, wanted?: bigint): Promise<bigint[]>;
  /** Records NFTs that moved to an address. */
  addNfts(token: Erc721Name, owner: Address, ids: readonly bigint[]): void;
  /** Whether an address has an NFT to send. */
  hasNft(token: Erc721Name, owner: Address): boolean;
  balance(token: Erc20Name, owner: Address): Promise<bigint>;
  balance(token: 'supplies', owner: Address, id: bigint): Promise<bigint>;
  /** Returns an id that was never minted. */
  freshId(token: Erc721Name): bigint;
  /** Returns the call that mints, from the deployer. */
  mint(token: keyof World['tokens'], args: readonly unknown[], functionName?: string): Call;
}

/** @param onMinted called for each mint that an action needed first. */
export function createHoldings(
  driver: Driver,
  rpc: Rpc,
  world: World,
  onMinted: (mined: Mined) => void = () => undefined,
): Holdings {
  const nfts: Record<Erc721Name, Map<Address, bigint[]>> = { keys: new Map(), names: new Map() };
  for (const { token, owner, ids } of world.nfts) nfts[token].set(owner, [...ids]);
  const wallets = new Set<Address>(Object.values(world.wallets));
  let lastId = 1000;

  const held = (token: Erc721Name, owner: Address): bigint[] => nfts[token].get(owner) ?? [];
  const mint: Holdings['mint'] = (token, args, functionName = 'mint') => ({
    from: world.deployer,
    to: world.tokens[token].address,
    data: callData(contractOf(token), functionName, args),
  });

  async function mintNow(call: Call, what: string, owner: Address): Promise<void> {
    const [receipt] = await driver.send([call]);
    const { hash, blockNumber } = receipt!;
    onMinted({ hash, blockNumber, summary: `${what} minted to ${nameOf(world, owner)} for the next transfer` });
  }

  async function balance(token: keyof World['tokens'], owner: Address, id?: bigint): Promise<bigint> {
    const contract = contractOf(token);
    const data = callData(contract, 'balanceOf', id === undefined ? [owner] : [owner, id]);
    const result = await rpc<Hex>('eth_call', [{ to: world.tokens[token].address, data }, 'latest']);
    return callResult(contract, 'balanceOf', result) as bigint;
  }

  function refuseWallet(owner: Address, has: string): void {
    if (wallets.has(owner))
      throw new RangeError(`${nameOf(world, owner)} holds only ${has}. Send less, or mint some first.`);
  }

  return {
    async ensureCoins(owner, wei = 0n) {
      const needed = wei + parseEther('1');
      if (BigInt(await rpc<Hex>('eth_getBalance', [owner, 'latest'])) < needed)
        await driver.setCoins(owner, needed + parseEther('100'));
    },
    async ensureErc20(token, owner, amount) {
      const has = await balance(token, owner);
      if (has >= amount) return;
      const { decimals, symbol } = world.tokens[token];
      const text = (value: bigint): string => (token === 'hostile' ? '' : `${formatUnits(value, decimals)} ${symbol}`);
      refuseWallet(owner, text(has));
      await mintNow(mint(token, [owner, amount - has]), `${text(amount - has)} is`, owner);
    },
    async ensureErc1155(owner, id, amount) {
      const has = await balance('supplies', owner, id);
      if (has >= amount) return;
      const text = (value: bigint): string => `${value} × ${world.tokens.supplies.symbol} #${id}`;
      refuseWallet(owner, text(has));
      await mintNow(mint('supplies', [owner, id, amount - has]), `${text(amount - has)} is`, owner);
    },
    async takeNfts(token, owner, count, wanted) {
      const owned = held(token, owner);
      const isHeld = wanted !== undefined && owned.includes(wanted);
      const short = Array.from({ length: Math.max(0, count - owned.length) });
      const missing = wanted === undefined ? short.map(() => freshId(token)) : isHeld ? [] : [wanted];
      if (missing.length > 0) {
        const { symbol } = world.tokens[token];
        const what = missing.length === 1 ? `${symbol} #${shortId(missing[0]!)} is` : `${missing.length} ${symbol} are`;
        await mintNow(mint(token, [owner, missing], 'mintMany'), what, owner);
        owned.push(...missing);
      }
      const taken = wanted === undefined ? owned.slice(0, count) : [wanted];
      nfts[token].set(
        owner,
        owned.filter((id) => !taken.includes(id)),
      );
      return taken;
    },
    addNfts(token, owner, ids) {
      nfts[token].set(owner, [...held(token, owner), ...ids]);
    },
    hasNft: (token, owner) => held(token, owner).length > 0,
    balance,
    freshId,
    mint,
  };

  function freshId(token: Erc721Name): bigint {
    lastId++;
    return token === 'keys' ? BigInt(lastId) : nameId(lastId);
  }
}
