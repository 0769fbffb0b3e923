import type { Chain } from './types.ts';

export type { Address, Chain, Hash, Mined, Party, Token, TokenName, TransferRequest, WalletName } from './types.ts';
export { walletNames } from './types.ts';

/**
 * Starts a local chain on 127.0.0.1 with wallets, contracts and balances ready.
 *
 * @param options.port where its JSON-RPC listens; 0 or absent: a free one.
 * @param options.scripted true: the scripted chain even where anvil could run.
 */
export async function startChain(_options: { port?: number; scripted?: boolean } = {}): Promise<Chain> {
  throw new Error('not yet');
}

/**
 * Keeps the chain lively: every `everyMs` a transfer of some kind into or out of Treasury, a burst now and then.
 *
 * @param options.random a number in [0, 1); default `Math.random`.
 * @returns the way to stop it; resolves when the last action is mined.
 */
export function startTraffic(_chain: Chain, _options: { everyMs: number; random?: () => number }): () => Promise<void> {
  throw new Error('not yet');
}
