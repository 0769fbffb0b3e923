import { expect, it, onTestFinished } from 'vitest';
import { CHANNEL, startWhole } from '../lifecycle/app.ts';
import { payment } from '../pipeline/harness.ts';
import { type Given, startUpstream } from '../upstream/server.ts';

const DOWN: Given = { status: 502, body: 'Bad gateway' };
const UP: Given = { body: { status: '0', message: 'Contract address not found', result: null } };

it('shows in the alert, /readyz and the metrics that the explorer is down, and still posts the alert', async () => {
  const explorer = await startUpstream(() => DOWN);
  onTestFinished(explorer.close);
  const bot = await startWhole({ environment: { EXPLORER_API_URL: explorer.url } });
  await bot.registered();
  await bot.post(payment());
  await bot.posted(1);
  expect(JSON.stringify(bot.discord.messages(CHANNEL))).toContain('This token could not be checked');
  const ready = await bot.get('/readyz');
  expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
    200,
    { ok: true, parts: { interfaces: { ready: true, detail: expect.stringMatching(/^explorer .* \d+ s: broken$/) } } },
  ]);
  const metrics = await bot.reaches('interface_errors_total{interface="explorer",reason="broken"}', 1);
  expect(metrics.get('interface_unavailable_seconds{interface="explorer"}')).toBeGreaterThan(0);

  explorer.set(() => UP);
  await bot.services.interfaces.check();
  expect(await bot.parts()).toMatchObject({ interfaces: { ready: true } });
  await bot.reaches('interface_unavailable_seconds{interface="explorer"}', 0);
});
