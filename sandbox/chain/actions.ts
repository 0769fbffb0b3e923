import { type Driver, rpcOf } from './driver.ts';
import { createHoldings } from './holdings.ts';
import type { Planned } from './plan-tools.ts';
import { createPlans } from './plans.ts';
import type { World } from './setup.ts';
import type { Chain, Mined } from './types.ts';

type Actions = Omit<Chain, 'rpcUrl' | 'kind' | 'notice' | 'wallets' | 'tokens' | 'contracts' | 'close'>;

/** Returns every action on a chain; the code is the same for both kinds. */
export function actionsOn(driver: Driver, world: World): Actions {
  const listeners = new Set<(mined: Mined) => void>();

  function report(mined: Mined): void {
    for (const listener of listeners) listener(mined);
  }

  const plans = createPlans(world, createHoldings(driver, rpcOf(driver.rpcUrl), world, report));
  let last: Promise<unknown> = Promise.resolve();

  /** Runs actions one after another: what one has planned must still hold when it is sent. */
  function mine(plan: () => Promise<Planned[]>): Promise<Mined[]> {
    const run = last.then(async () => {
      const planned = await plan();
      const receipts = await driver.send(planned.map(({ call }) => call)).catch((error: unknown) => {
        for (const { nfts } of planned) plans.recordOwner(nfts, nfts?.from);
        throw error;
      });
      return planned.map(({ summary, nfts }, index) => {
        plans.recordOwner(nfts, nfts?.to);
        const mined = { hash: receipts[index]!.hash, blockNumber: receipts[index]!.blockNumber, summary };
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
    swap: (who, amount) => mineOne(() => plans.swap(who, amount)),
    sweep: (request) => mineOne(() => plans.sweep(request)),
    async lookalike(request) {
      const address = plans.lookalike(request.like);
      // Dust, not zero: the bot hides transfers of zero, and the point is to see the warning.
      const { to, amount = 10_000n } = request;
      const mined = await mineOne(() => plans.transfer({ kind: 'erc20', from: address, to, amount, token: 'dollar' }));
      return { ...mined, address };
    },
    hostile: ({ from, to }) => mineOne(() => plans.transfer({ kind: 'erc20', from, to, token: 'hostile' })),
    fake: ({ from, to }) => mineOne(() => plans.transfer({ kind: 'erc20', from, to, token: 'fake' })),
    mint: (request) => mineOne(() => plans.mint(request)),
    burn: (request) => mineOne(() => plans.burn(request)),
    identicalTransfers: (request) => mineOne(() => plans.identicalTransfers(request)),
    onMined(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
