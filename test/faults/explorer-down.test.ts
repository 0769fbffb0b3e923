import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { startDiscord } from '../../sandbox/discord/index.ts';
import { CHANNEL, post, startHere } from '../lifecycle/app.ts';
import { temporaryFile } from '../lifecycle/bot.ts';
import { payment } from '../pipeline/harness.ts';
import { until } from '../until.ts';
import { type Given, startUpstream } from '../upstream/server.ts';

const DOWN: Given = { status: 502, body: 'Bad gateway' };
const UP: Given = { body: { status: '0', message: 'Contract address not found', result: null } };

it('shows in the alert, /readyz and the metrics that the explorer is down, and still posts the alert', async () => {
  const discord = await startDiscord({ limits: 'none' });
  onTestFinished(() => discord.close());
  const explorer = await startUpstream(() => DOWN);
  onTestFinished(explorer.close);
  const app = await startHere(temporaryFile(), discord, undefined, { EXPLORER_API_URL: explorer.url });
  onTestFinished(app.close);
  const ops = async (path: string) => {
    const response = await request(app.ops + path);
    return { status: response.statusCode, text: await response.body.text() };
  };

  await discord.until('the commands are registered', ({ state }) =>
    state.commands.some(({ commands }) => commands.length > 0),
  );
  await post(app, JSON.stringify(payment()));
  await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
  expect(JSON.stringify(discord.messages(CHANNEL))).toContain('This token could not be checked');
  const ready = await ops('/readyz');
  expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
    200,
    { ok: true, parts: { interfaces: { ready: true, detail: expect.stringMatching(/^explorer .* \d+ s: broken$/) } } },
  ]);
  const unavailable = /^ledgerbell_interface_unavailable_seconds\{interface="explorer"\} (?!0$)/m;
  await until('the metrics show the outage', async () => unavailable.test((await ops('/metrics')).text));
  expect((await ops('/metrics')).text).toContain(
    'ledgerbell_interface_errors_total{interface="explorer",reason="broken"} 1',
  );

  explorer.set(() => UP);
  await app.internals.services.interfaces.check();
  expect(JSON.parse((await ops('/readyz')).text)).toMatchObject({ parts: { interfaces: { ready: true } } });
  expect((await ops('/metrics')).text).toContain('ledgerbell_interface_unavailable_seconds{interface="explorer"} 0');
});
