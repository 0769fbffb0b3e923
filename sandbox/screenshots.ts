/** `npm run screenshots`: draws the pictures of docs/pictures/ from a running sandbox. */
import '../services/v8-options.ts';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { makeFolder } from '../src/domain/folder.ts';
import { findChromium, launchChromium } from './browser.ts';
import { type InteractionState, type OptionInput, seed } from './discord/index.ts';
import type { PageAction } from './page/protocol.ts';
import { listenForPage } from './page/server.ts';
import type { Sandbox } from './running.ts';
import { startSandbox } from './start.ts';

const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };

interface Look {
  tour?: boolean;
  colors?: 'dark' | 'light';
  size?: { width: number; height: number };
}

async function open(
  browser: Browser,
  url: string,
  { colors = 'dark', size = DESKTOP, tour = false }: Look,
): Promise<Page> {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: colors,
    deviceScaleFactor: size === PHONE ? 2 : 1,
    reducedMotion: 'reduce',
  });
  if (!tour) await context.addInitScript("localStorage.setItem('ledgerbell-tour-dismissed', 'yes')");
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('.message').first().waitFor();
  return page;
}

const save = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: `${FOLDER}${name}.png` });

async function use(page: Page, command: string): Promise<void> {
  const before = await page.locator('.above').count();
  await page.locator('#composer').fill(`/${command} `);
  await page.locator('.command').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.above').nth(before).waitFor();
  await page.locator('.thinking').waitFor({ state: 'detached' });
}

const goTo = (page: Page, channel: string): Promise<void> =>
  page.locator('.channels li button', { hasText: channel }).first().click();

type Kind = Extract<PageAction, { do: 'transfer' }>['kind'];

const TRANSFERS: [kind: Kind, from: string, to: string, amount?: string][] = [
  ['erc20', 'Bob', 'Treasury', '75'],
  ['native', 'Payroll', 'Carol', '0.85'],
  ['native', 'Treasury', 'Grants', '6'],
  ['erc20', 'Payroll', 'Bob', '940'],
  ['internal', 'Grants', 'Treasury', '0.4'],
  ['native', 'Whale', 'Treasury', '12.5'],
  ['erc721', 'Treasury', 'Market'],
  ['erc1155', 'Alice', 'Treasury', '3'],
  ['erc20', 'Treasury', 'Payroll', '1250'],
  ['erc20', 'Alice', 'Treasury', '18400.75'],
];

async function stageRest(page: Page, sandbox: Sandbox): Promise<void> {
  const rest: [action: PageAction, title: string][] = [
    [{ do: 'transfer', kind: 'erc20', token: 'fake', from: 'Alice', to: 'Treasury' }, 'Imitation!'],
    [{ do: 'lookalike', like: 'Payroll', to: 'Treasury' }, 'Look-alike address!'],
    [{ do: 'sweep', from: 'Treasury', to: 'Market', count: 5 }, '−5 × '],
    [{ do: 'swap', from: 'Treasury' }, '🔄'],
    [{ do: 'burn', from: 'Treasury' }, '🔥'],
    [{ do: 'mint', to: 'Treasury' }, '✨'],
  ];
  for (const [action, title] of rest) {
    await sandbox.act(action);
    await page.locator('.message', { hasText: title }).waitFor();
  }
}

/** From the first alert on. */
async function saveWhole(page: Page, name: string): Promise<void> {
  const alerts = page.locator('.message', { has: page.locator('[data-custom-id^="why:show:"]') });
  const first = await alerts.first().boundingBox();
  const list = 'document.querySelector("#messages")';
  const below = (await page.evaluate(`${list}.scrollHeight - ${list}.scrollTop`)) as number;
  await page.setViewportSize({ width: DESKTOP.width, height: Math.ceil(below - first!.y) + 160 });
  await page.locator('.channel').screenshot({ path: `${FOLDER}${name}.png` });
  await page.setViewportSize(DESKTOP);
}

/** Discord limits the bot's rate meanwhile: too many alerts to post one by one. */
async function backlog({ discord, act }: Sandbox): Promise<void> {
  const messages = { method: 'POST', path: '/channels/:channel/messages' };
  discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 8_000 }, ...messages, times: 1 });
  await act({ do: 'burst', count: 250 });
}

/** Wide enough for the panel's rows of buttons, and without the panel next to it. */
const REPLIES = { width: 900, height: 1400 };

/** `{name}` in an option stands for the address of a wallet or token, or for a transaction. */
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

async function saveReply(page: Page, { reply, name, failure }: InteractionState, path: string): Promise<void> {
  if (!reply) throw new Error(`/${name} got no reply: ${failure}`);
  const message = page.locator(`[data-message="${reply.id}"]`);
  await message.waitFor();
  await message.locator('.thinking').waitFor({ state: 'detached' });
  await message.screenshot({ path });
}

const csvOf = ({ Market, dollar }: Record<string, string>): string =>
  `type,address,channel,label,minimum\r\nsubscription,${Market},#alerts,Market,100\r\nsubscription,${dollar},#alerts,Dollar,5000\r\n`;

/** `page` shows #general as Ada. At least one transfer must have been posted. */
async function drawReplies(page: Page, { discord, world, transactions }: Sandbox, folder: string): Promise<void> {
  await page.setViewportSize(REPLIES);
  const tokens = Object.entries(world.tokens).map(([name, { address }]) => [name, address] as const);
  const transaction = transactions.find(({ posted }) => posted.length > 0)!.txHash;
  const known: Record<string, string> = { ...world.wallets, ...Object.fromEntries(tokens), transaction };
  for (const [picture, name, typed = {}] of SHOTS) {
    const options: Record<string, OptionInput> = Object.fromEntries(
      Object.entries(typed).map(([key, text]) => [key, text.replace(/\{(\w+)\}/g, (_, name: string) => known[name]!)]),
    );
    if (typed.file) options.file = { filename: 'watch.csv', contentType: 'text/csv', text: csvOf(known) };
    const who = { userId: seed.ada, channelId: seed.harbor.general };
    const state = await (await discord.use({ kind: 'command', name, options, ...who })).final();
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
  await page.setViewportSize(DESKTOP);
}

async function draw(browser: Browser, url: string, sandbox: Sandbox): Promise<void> {
  const tour = await open(browser, url, { tour: true });
  await save(tour, 'tour');
  for (const [kind, from, to, amount] of TRANSFERS)
    await sandbox.act({ do: 'transfer', kind, from, to, ...(amount && { amount }) });
  const page = await open(browser, url, {});
  await page.locator('.message', { hasText: '18,400.75' }).waitFor();
  const panels = page.getByText('Dismiss message');
  while ((await panels.count()) > 0) await panels.first().click();
  await page.mouse.move(0, 0);
  await save(page, 'alerts');
  const light = await open(browser, url, { colors: 'light' });
  await light.locator('.message', { hasText: '18,400.75' }).waitFor();
  await light.locator('#tab-send').click();
  await save(light, 'alerts-light');
  const small = await open(browser, url, { size: PHONE });
  await small.locator('.message', { hasText: '18,400.75' }).waitFor();
  await save(small, 'alerts-phone');
  await stageRest(page, sandbox);
  await saveWhole(page, 'alerts-every-kind');

  await goTo(page, 'general');
  await page.locator('#composer').fill('/');
  await page.locator('.suggestions').waitFor();
  await save(page, 'commands');
  await use(page, 'provider search category:wallets');
  await page.setViewportSize({ width: 1280, height: 1060 });
  await save(page, 'providers');
  await page.setViewportSize(DESKTOP);
  await use(page, 'setup check');
  await save(page, 'setup-check');
  await use(page, 'activity address:Treasury');
  await page.locator('.embed-image').last().waitFor();
  await page.setViewportSize({ width: 1280, height: 1060 });
  await save(page, 'activity');
  await page.setViewportSize(DESKTOP);
  await drawReplies(page, sandbox, `${FOLDER}commands/`);
  await goTo(page, 'alerts');
  await sandbox.act({ do: 'bot', what: 'kill' });
  await sandbox.act({ do: 'transfer', kind: 'native', from: 'Grants', to: 'Treasury', amount: '2' });
  await page.locator('.trouble').first().waitFor();
  await save(page, 'nothing-lost');
  await sandbox.act({ do: 'bot', what: 'start' });
  await page.locator('.status', { hasText: 'Bot is running' }).waitFor();
  await backlog(sandbox);
  await page.locator('.embed', { hasText: 'Digest' }).last().waitFor({ timeout: 60_000 });
  await page.locator('.transactions', { hasText: 'in a digest' }).first().waitFor();
  await save(page, 'digest');
}

const chromium = findChromium();
if (chromium === null) throw new Error('The pictures need Chromium: apt-get install chromium fonts-noto-color-emoji');
makeFolder(FOLDER);
await using parts = new AsyncDisposableStack();
const server = parts.adopt(await listenForPage(0), (it) => it.close());
const sandbox = await startSandbox({ parts, print: console.log }, {});
server.show(sandbox);
const browser = parts.use(await launchChromium(chromium));
await draw(browser, server.url, sandbox);
console.log(`The pictures are in ${FOLDER}`);
