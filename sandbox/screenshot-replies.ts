/** Draws the bot's reply to each command, for the manual: docs/pictures/commands/<command>.png. */
import type { Page } from 'playwright-core';
import type { InteractionRequest, InteractionState, OptionInput } from './discord/control.ts';
import { seed } from './discord/seed.ts';
import type { PageEvent } from './page/protocol.ts';

/** Wide enough for the panel's rows of buttons, and without the panel of the world next to it. */
const SIZE = { width: 900, height: 1400 };

/** A command as it is typed for the picture, with `{name}` for a wallet's, token's or transaction's address. */
type Shot = [picture: string, command: string, options?: Record<string, string>];

const SUBSCRIPTION = { subscription: 'Grants' };
const SHOTS: Shot[] = [
  ['help', 'help'],
  ['status', 'status'],
  ['token', 'token', { address: '{dollar}' }],
  ['provider-categories', 'provider categories'],
  ['setup-server', 'setup server', { timezone: 'Europe/Lisbon', channel: seed.harbor.alerts }],
  ['subscription-add', 'subscription add', { address: '{Grants}', label: 'Grants', preset: 'large', minimum: '250' }],
  ['subscription-edit', 'subscription edit', SUBSCRIPTION],
  ['subscription-list', 'subscription list'],
  ['subscription-test', 'subscription test', SUBSCRIPTION],
  ['subscription-pause', 'subscription pause', SUBSCRIPTION],
  ['subscription-resume', 'subscription resume', SUBSCRIPTION],
  ['subscription-mute', 'subscription mute', { ...SUBSCRIPTION, duration: '8h' }],
  ['subscription-export', 'subscription export'],
  ['subscription-import', 'subscription import', { file: '{file}' }],
  ['subscription-remove', 'subscription remove', SUBSCRIPTION],
  ['label-set', 'label set', { address: '{Whale}', name: 'Whale fund' }],
  ['label-list', 'label list'],
  ['label-remove', 'label remove', { address: 'Whale fund' }],
  ['webhook-list', 'webhook list'],
  ['webhook-remove', 'webhook remove', { webhook: '{webhook}', addresses: '{Payroll}' }],
  ['why', 'why', { transaction: '{transaction}' }],
  ['setup-audit', 'setup audit'],
  ['setup-forget', 'setup forget'],
];

/** The world as a new page gets it. */
async function worldOf(url: string): Promise<Extract<PageEvent, { type: 'hello' }>> {
  const response = await fetch(`${url}/_sandbox/events`);
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const line = /^data: (.*)$/m.exec(text)?.[1];
    if (line !== undefined && text.includes('\n\n')) return JSON.parse(line) as Extract<PageEvent, { type: 'hello' }>;
  }
  throw new Error('The page’s events ended before the first one');
}

/** Sends JSON to the page's server. @throws with its response when that is an error. */
export async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Uses a command as Ada in #general, and returns the bot's final reply. */
async function interact(url: string, name: string, options: Record<string, OptionInput>): Promise<InteractionState> {
  const who = { userId: seed.ada, channelId: seed.harbor.general };
  const request: InteractionRequest = { kind: 'command', name, options, ...who };
  return (await post(`${url}/_control/interactions?wait=final`, request)) as InteractionState;
}

/** Draws the bot's reply once it is on the page and no longer says "thinking…". */
async function saveReply(page: Page, { reply, name, failure }: InteractionState, path: string): Promise<void> {
  if (!reply) throw new Error(`/${name} got no reply: ${failure}`);
  const message = page.locator(`[data-message="${reply.id}"]`);
  await message.waitFor();
  await message.locator('.thinking').waitFor({ state: 'detached' });
  await message.screenshot({ path });
}

/** A file for /subscription import: a wallet and a token. */
const csvOf = ({ Market, dollar }: Record<string, string>): string =>
  `type,address,channel,label,minimum\r\nsubscription,${Market},#alerts,Market,100\r\nsubscription,${dollar},#alerts,Dollar,5000\r\n`;

/** Draws every picture into `folder`, on a page that shows #general as Ada. At least one transfer must have been posted. */
export async function drawReplies(page: Page, url: string, folder: string): Promise<void> {
  const { world, transactions } = await worldOf(url);
  await page.setViewportSize(SIZE);
  const tokens = Object.entries(world.tokens).map(([name, { address }]) => [name, address] as const);
  const transaction = transactions.find(({ posted }) => posted.length > 0)!.txHash;
  const known: Record<string, string> = { ...world.wallets, ...Object.fromEntries(tokens), transaction };
  for (const [picture, name, options = {}] of SHOTS) {
    const filled: Record<string, OptionInput> = Object.fromEntries(
      Object.entries(options).map(([key, text]) => [key, text.replace(/\{(\w+)\}/g, (_, one: string) => known[one]!)]),
    );
    if (options.file) filled.file = { filename: 'watch.csv', contentType: 'text/csv', text: csvOf(known) };
    const state = await interact(url, name, filled);
    if (name === 'webhook list') known.webhook = /\b[0-9a-f]{24}\b/.exec(JSON.stringify(state.reply))![0];
    await saveReply(page, state, `${folder}${picture}.png`);
  }
  await page.locator('#composer').fill('/setup project ');
  await page.locator('.command').waitFor();
  await page.keyboard.press('Enter');
  const form = page.locator('dialog.form');
  await form.waitFor();
  await form.screenshot({ path: `${folder}setup-project.png` });
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1280, height: 800 });
}
