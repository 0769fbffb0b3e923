import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createManualClock, startDiscord } from '../../../sandbox/discord/index.ts';
import { startApp } from '../../../src/app.ts';
import { configOf, noGateway, readLog } from '../../app.ts';
import { CHANNEL, post } from '../../lifecycle/app.ts';
import { payment, TREASURY } from '../../pipeline/harness.ts';
import { until } from '../../until.ts';
import { NOW, subscribe } from '../contract/given.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())('posts an alert without delay though the response to its commit was lost', async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const network = stack.adopt(await losingOneCommit(server.port), (it) => it.close());
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  const config = configOf(discord, 'unused', {
    DATABASE_URL: (await server.createDatabase()).replace(`:${server.port}/`, `:${network.port}/`),
  });
  const clock = createManualClock(NOW);
  const said: string[] = [];
  const log = readLog('error', (line) => void said.push((JSON.parse(line) as { msg: string }).msg));
  const app = stack.adopt(await startApp(config, { clock, log, connect: noGateway }), (it) => it.close());
  await subscribe(app.internals.store, { address: TREASURY, channelId: CHANNEL });

  network.lose('DELETE FROM inbox');
  expect(await post(app, JSON.stringify(payment()))).toBe(200);
  await until('routing pauses', () => said.length > 0);
  expect([said, discord.messages(CHANNEL)]).toEqual([['routing paused'], []]);
  clock.advance(500);
  await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
});

/** A network to a port that can lose the response to a commit. */
async function losingOneCommit(to: number) {
  let wanted: string | null = null;
  const proxy = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    let isFound = false;
    let isLost = false;
    near.on('data', (bytes) => {
      isFound ||= wanted !== null && bytes.includes(wanted);
      isLost = isFound && bytes.includes('COMMIT');
      if (isLost) wanted = null;
      far.write(bytes);
    });
    far.on('data', (bytes) => void (isLost ? near.destroy() : near.write(bytes)));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as { port: number }).port,
    /** Loses the response to the next commit of a transaction with this statement. */
    lose: (statement: string) => {
      wanted = statement;
    },
    close: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  };
}
