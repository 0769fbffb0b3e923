import { getAddress } from 'viem';
import type { Address } from '../types.ts';
import { Reverted } from './contracts.ts';
import type { State } from './state.ts';

/** Creates the accounts of a chain: their coins, in wei, and how many transactions each has sent. */
export function createAccounts(state: State) {
  const coins = (address: Address) => state.number(`coins.${getAddress(address)}`);
  const nonce = (address: Address) => state.number(`nonce.${getAddress(address)}`);

  /** @throws {@link Reverted} when the account has fewer coins. */
  function take(from: Address, wei: bigint): void {
    const left = coins(from) - wei;
    if (left < 0n) throw new Reverted(`${from} has not enough coins`);
    state.set(`coins.${from}`, left);
  }

  return {
    coins,
    nonce,
    take,
    setCoins(address: Address, wei: bigint): void {
      state.set(`coins.${getAddress(address)}`, wei);
      state.commit();
    },
    /** Returns the number of the account's next transaction and counts that. */
    nextNonce(from: Address): bigint {
      const next = nonce(from);
      state.set(`nonce.${from}`, next + 1n);
      return next;
    },
    /** @throws {@link Reverted} when the sender has fewer coins. */
    pay(from: Address, to: Address, wei: bigint): void {
      take(from, wei);
      state.set(`coins.${to}`, coins(to) + wei);
    },
  };
}
