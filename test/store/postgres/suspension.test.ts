import { request } from 'undici';
import { expect, it } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { startApp } from '../../../src/app.ts';
import { configOf, noGateway, PATH_TOKEN, testLog } from '../../app.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())(
  'refuses deliveries for a second after it was suspended, because their senders may have delivered to another process',
  async () => {
    await using server = await startPostgres();
    const clock = createManualClock();
    const config = configOf({ token: 'x', apiUrl: 'http://127.0.0.1:9/api' }, 'unused', {
      DATABASE_URL: await server.createDatabase(),
    });
    await using stack = new AsyncDisposableStack();
    const app = await startApp(config, { clock, elapsed: clock.now, log: testLog(), connect: noGateway });
    stack.defer(app.close);
    const post = async () => {
      const { statusCode, body } = await request(`${app.receiver}/hooks/${PATH_TOKEN}`, { method: 'POST', body: '{}' });
      await body.dump();
      return statusCode;
    };

    expect(await post()).toBe(200);
    clock.leap(3_000);
    expect(await post()).toBe(503);
    clock.advance(999);
    expect(await post()).toBe(503);
    clock.advance(1);
    expect(await post()).toBe(200);
  },
);
