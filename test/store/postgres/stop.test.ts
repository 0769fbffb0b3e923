import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { startApp } from '../../../src/app.ts';
import { configOf, noGateway, testLog } from '../../app.ts';
import { post } from '../../lifecycle/app.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())(
  'records the last responses of a process that stops, so that the one that routes does not wait for them',
  async () => {
    await using server = await startPostgres();
    const url = await server.createDatabase();
    const config = configOf({ token: 'x', apiUrl: 'http://127.0.0.1:9/api' }, 'unused', {
      DATABASE_URL: url,
      ROLES: 'receive',
    });
    // Its time does not pass: nothing but the stop records the response.
    const clock = createManualClock();
    const app = await startApp(config, { clock, elapsed: clock.now, log: testLog(), connect: noGateway });
    expect(await post(app, '{}')).toBe(200);
    await app.close();

    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query('SELECT is_open, answered_at IS NOT NULL AS is_answered FROM inbox');
    expect(rows).toEqual([{ is_open: false, is_answered: true }]);
  },
);
