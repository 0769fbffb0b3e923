import { actionsOn } from './actions.ts';
import { findAnvil, startAnvil } from './anvil.ts';
import type { Driver } from './driver.ts';
import { startScripted } from './scripted/index.ts';
import { setUp } from './setup.ts';
import type { Chain } from './types.ts';

export { startTraffic } from './traffic.ts';
export type { Address, Chain, Hash, Mined, Party, Token, TokenName, TransferRequest, WalletName } from './types.ts';
export { COIN_SYMBOL, WALLET_NAMES } from './types.ts';

const MISSING = `There is no anvil for this platform (${process.platform} ${process.arch}), nor on PATH`;

/**
 * Starts a local chain on 127.0.0.1 with wallets, contracts and balances. It is anvil if one is found and starts,
 * otherwise the scripted chain.
 *
 * @param options.port the port of its JSON-RPC. 0 or absent picks a free one.
 * @param options.scripted true starts the scripted chain even if anvil could run.
 * @param options.findAnvil returns the binary's path, or null if there is none.
 * @throws when the port is in use.
 */
export async function startChain(
  options: { port?: number; scripted?: boolean; findAnvil?: () => string | null } = {},
): Promise<Chain> {
  const { port = 0, scripted = false } = options;
  if (scripted) return chainOn(await startScripted(port), null);
  const binary = (options.findAnvil ?? findAnvil)();
  const anvil = binary === null ? new Error(MISSING) : await startAnvil(binary, port).catch((error: Error) => error);
  if (!(anvil instanceof Error)) return chainOn(anvil, null);
  // If the port is the problem, the scripted chain would not get it either.
  if (binary !== null && port !== 0) throw anvil;
  const instead = 'so a small scripted chain replaces it. It makes the same transfers, but runs no real contracts.';
  return chainOn(await startScripted(port), `${anvil.message}, ${instead}`);
}

async function chainOn(driver: Driver, notice: string | null): Promise<Chain> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => driver.close());
  const world = await setUp(driver);
  const started = stack.move();
  return {
    rpcUrl: driver.rpcUrl,
    kind: driver.kind,
    notice,
    wallets: world.wallets,
    tokens: world.tokens,
    contracts: world.contracts,
    ...actionsOn(driver, world),
    close: () => started.disposeAsync(),
  };
}
