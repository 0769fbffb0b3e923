import { expect, it } from 'vitest';
import { createManualClock, startDiscord } from '../../../sandbox/discord/index.ts';
import { startApp } from '../../../src/app.ts';
import { configOf, noGateway, readLog } from '../../app.ts';
import { CHANNEL, post } from '../../lifecycle/app.ts';
import { payment, TREASURY } from '../../pipeline/harness.ts';
import { until } from '../../until.ts';
import { NOW, subscribe } from '../contract/given.ts';
import { layCable } from './cable.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())('posts an alert without delay though the response to its commit was lost', async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const network = stack.adopt(await layCable(server.port), (it) => it.close());
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  const config = configOf(discord, 'unused', {
    DATABASE_URL: (await server.createDatabase()).replace(`:${server.port}/`, `:${network.port}/`),
  });
  const clock = createManualClock(NOW);
  const said: string[] = [];
  const log = readLog('error', (line) => void said.push((JSON.parse(line) as { msg: string }).msg));
  const app = stack.adopt(await startApp(config, { clock, log, connect: noGateway }), (it) => it.close());
  await subscribe(app.internals.store, { address: TREASURY, channelId: CHANNEL });

  network.loseCommit('DELETE FROM inbox');
  expect(await post(app, JSON.stringify(payment()))).toBe(200);
  await until('routing pauses', () => said.length > 0);
  expect([said, discord.messages(CHANNEL)]).toEqual([['routing paused'], []]);
  clock.advance(500);
  await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
});
