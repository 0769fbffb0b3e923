import { type Driver, rpcOf } from './driver.ts';
import { Holdings } from './holdings.ts';
import { type Planned, Plans } from './plans.ts';
import type { World } from './setup.ts';
import type { Chain, Mined } from './types.ts';

type Actions = Omit<Chain, 'rpcUrl' | 'kind' | 'notice' | 'wallets' | 'tokens' | 'contracts' | 'close'>;

/** Everything one can do on a chain, the same over both kinds. */
export function actionsOn(driver: Driver, world: World): Actions {
  const listeners = new Set<(mined: Mined) => void>();
  const plans = new Plans(world, new Holdings(driver, rpcOf(driver.rpcUrl), world));
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one action after the other: what one plans must not be changed by another. */
  const mine = (plan: () => Promise<Planned[]>): Promise<Mined[]> => {
    const run = last.then(async () => {
      const planned = await plan();
      const receipts = await driver.send(planned.map(({ call }) => call)).catch((error: unknown) => {
        for (const { pieces } of planned) plans.settle(pieces, pieces?.from);
        throw error;
      });
      return planned.map(({ summary, pieces }, index) => {
        plans.settle(pieces, pieces?.to);
        const mined = { hash: receipts[index]!.hash, blockNumber: receipts[index]!.blockNumber, summary };
        for (const listener of listeners) listener(mined);
        return mined;
      });
    });
    last = run.catch(() => undefined);
    return run;
  };
  const mineOne = async (plan: () => Promise<Planned>): Promise<Mined> => (await mine(async () => [await plan()]))[0]!;

  return {
    transfer: (request) => mineOne(() => plans.transfer(request)),
    burst: (count, between) => mine(() => plans.burst(count, between)),
    swap: (who, amount) => mineOne(() => plans.swap(who, amount)),
    sweep: (request) => mineOne(() => plans.sweep(request)),
    async lookalike(request) {
      const address = plans.lookalike(request.like);
      // Dust rather than nothing: transfers of nothing are hidden, and the warning is what is to be seen.
      const { to, amount = 10_000n } = request;
      const mined = await mineOne(() => plans.transfer({ kind: 'erc20', from: address, to, amount, token: 'dollar' }));
      return { ...mined, address };
    },
    hostile: ({ from, to }) => mineOne(() => plans.transfer({ kind: 'erc20', from, to, token: 'hostile' })),
    fake: ({ from, to }) => mineOne(() => plans.transfer({ kind: 'erc20', from, to, token: 'fake' })),
    mint: (request) => mineOne(() => plans.mint(request)),
    burn: (request) => mineOne(() => plans.burn(request)),
    twins: (request) => mineOne(() => plans.twins(request)),
    onMined(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
