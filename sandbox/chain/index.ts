import { type Anvil, findAnvil, startAnvil } from './anvil.ts';
import { createHoldings } from './holdings.ts';
import { createPlans, type Planned } from './plans.ts';
import { setUp, type World } from './setup.ts';
import type { Chain, Mined } from './types.ts';

export { startTraffic } from './traffic.ts';
export type { Address, Chain, Hash, Mined, Party, Token, TokenName, TransferRequest, WalletName } from './types.ts';
export { COIN_SYMBOL, WALLET_NAMES } from './types.ts';

/** All chains have the same addresses and balances. @throws with a sentence when there is no anvil. */
export async function startChain(chainId?: number): Promise<Chain> {
  await using stack = new AsyncDisposableStack();
  const anvil = stack.adopt(await startAnvil(findAnvil(), chainId), (it) => it.close());
  const world = await setUp(anvil);
  const started = stack.move();
  const { wallets, tokens, contracts } = world;
  return {
    rpcUrl: anvil.rpcUrl,
    wallets,
    tokens,
    contracts,
    ...actionsOn(anvil, world),
    close: () => started.disposeAsync(),
  };
}

function actionsOn(anvil: Anvil, world: World): Omit<Chain, 'rpcUrl' | 'wallets' | 'tokens' | 'contracts' | 'close'> {
  const listeners = new Set<(mined: Mined) => void>();

  function report(mined: Mined): void {
    for (const listener of listeners) listener(mined);
  }

  const holdings = createHoldings(anvil, world, report);
  const plans = createPlans(world, holdings);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs actions one after another: an action's plan must still hold when it is sent. */
  function mine(plan: () => Promise<Planned[]>): Promise<Mined[]> {
    const run = last.then(async () => {
      const planned = await plan();
      const receipts = await anvil.send(planned.map(({ call }) => call)).catch((error: unknown) => {
        for (const { nfts } of planned) holdings.addNfts(nfts, nfts?.from);
        throw error;
      });
      return planned.map(({ summary, nfts }, index) => {
        holdings.addNfts(nfts, nfts?.to);
        const { hash, blockNumber } = receipts[index]!;
        const mined = { hash, blockNumber, summary };
        report(mined);
        return mined;
      });
    });
    last = run.catch(() => undefined);
    return run;
  }

  const mineOne = async (plan: () => Promise<Planned>): Promise<Mined> => (await mine(async () => [await plan()]))[0]!;

  return {
    transfer: (request) => mineOne(() => plans.transfer(request)),
    burst: (count, between) => mine(() => plans.burst(count, between)),
    swap: (who) => mineOne(() => plans.swap(who)),
    sweep: (request) => mineOne(() => plans.sweep(request)),
    async lookalike({ like, to }) {
      const address = plans.lookalike(like);
      // Dust, not zero: the bot hides transfers of zero, and the point is to see the warning.
      const mined = await mineOne(() => plans.transfer({ kind: 'erc20', from: address, to, amount: 10_000n }));
      return { ...mined, address };
    },
    mint: (request) => mineOne(() => plans.mint(request)),
    burn: (request) => mineOne(() => plans.burn(request)),
    identicalTransfers: (request) => mineOne(() => plans.identicalTransfers(request)),
    onMined(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
