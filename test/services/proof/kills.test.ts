import type { Hex } from 'viem';
import { expect, it, onTestFinished } from 'vitest';
import { rpcOf } from '../../../sandbox/chain/rpc.ts';
import { HARBOR, surroundings } from '../harness.ts';
import { type RunningProcess, startProcess } from '../process.ts';
import { luckFrom, operations, type World } from './operations.ts';
import { eventsOf, idsByEvent } from './truth.ts';

const KILLS = Number(process.env.PROOF_KILLS ?? 5);
const TIMEOUT_MS = 300_000 + KILLS * 60_000;
const SEED = Number(process.env.PROOF_SEED ?? 1);
/** Without those that need contracts of their own, and without tokens that do not exist: their events wait for 2 minutes. */
const NAMES = Object.keys(operations).filter((name) => !/through a contract|code|unknown token/.test(name));

const here = surroundings();

async function start(): Promise<RunningProcess> {
  const running = await startProcess({ RPC_URL: here.chain.rpcUrl, DATA_DIR: here.dir });
  onTestFinished(() => running.destroy());
  return running;
}

it(
  'reports every transfer once, however often the services are killed',
  async () => {
    const rpc = rpcOf(here.chain.rpcUrl);
    const watched = [here.chain.wallets.Treasury, here.chain.wallets.Payroll];
    const world: World = { chain: here.chain, rpc, luck: luckFrom(SEED), watched, forwarders: [] };
    const height = async () => Number(await rpc<Hex>('eth_blockNumber'));
    const first = (await height()) + 1;
    let running = await start();
    const created = await running.call('POST', '/webhook', {
      projectId: HARBOR.id,
      webhookUrl: here.receiver.url,
      eventType: 'ALL',
      addresses: watched,
      parallel: 4,
    });
    expect(created.status).toBe(201);

    for (let kill = 0; kill < KILLS; kill++) {
      const before = here.receiver.received.length;
      for (let block = 0; block < 3; block++) {
        for (let count = 0; count < 4; count++) await operations[world.luck.pick(NAMES)]!(world);
        await rpc('evm_mine');
      }
      // Somewhere among the deliveries of these blocks; the rest are reported after the restart.
      await here.receiver.until(before + 1 + Math.floor(world.luck.next() * 6));
      await running.destroy();
      running = await start();
    }

    const truth = await eventsOf(rpc, here.chain.rpcUrl, watched, first, await height());
    const idsOf = () => idsByEvent(here.receiver.received);
    const missing = () => truth.filter((event) => !idsOf().has(event));
    await expect.poll(missing, { message: 'events that never arrived', timeout: 120_000, interval: 500 }).toEqual([]);
    expect([...idsOf().keys()].sort()).toEqual(truth);
    // The same delivery may come again after a kill, under its own id.
    expect([...idsOf()].filter(([, ids]) => ids.size > 1)).toEqual([]);
  },
  TIMEOUT_MS,
);
