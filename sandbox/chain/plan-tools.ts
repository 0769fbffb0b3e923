/** What all planners share: names, addresses and default amounts. */
import { formatUnits, getAddress, parseUnits } from 'viem';
import type { Call } from './driver.ts';
import { nameOf, type World } from './setup.ts';
import type { Address, Erc20Name, Erc721Name, Party, WalletName } from './types.ts';

/** A transaction that is ready to be sent, its summary, and the NFTs that it moves. */
export interface Planned {
  call: Call;
  summary: string;
  /** `from` is absent for a mint, `to` for a burn. */
  nfts?: { token: Erc721Name; from?: Address; to?: Address; ids: readonly bigint[] };
}

/** See {@link createPlanTools}. */
export type PlanTools = ReturnType<typeof createPlanTools>;

/** Returns how a chain's planners name parties and amounts. Default amounts differ from one transfer to the next. */
export function createPlanTools(world: World) {
  const { tokens } = world;
  let count = 0;

  function step(): bigint {
    count++;
    return BigInt(count % 10);
  }

  const addressOf = (party: Party): Address =>
    party.startsWith('0x') ? getAddress(party) : world.wallets[party as WalletName];
  const name = (party: Party): string => nameOf(world, party);

  function amountText(token: Erc20Name, amount: bigint): string {
    const { symbol, decimals } = tokens[token];
    const what = { dollar: symbol, bell: symbol, hostile: 'of a hostile token', fake: `of a fake ${symbol}` };
    return `${formatUnits(amount, decimals)} ${what[token]}`;
  }

  function smallAmount(token: Erc20Name): bigint {
    const { decimals } = tokens[token];
    return parseUnits('12.5', decimals) + step() * parseUnits('0.75', decimals);
  }

  return { step, addressOf, name, amountText, smallAmount };
}
