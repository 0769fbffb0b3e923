/** `npm run screenshots`: draws the pictures of the docs from a running sandbox into docs/pictures/. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { makeFolder } from '../src/domain/folder.ts';
import { findChromium, launchChromium } from './browser.ts';
import type { FaultRule } from './discord/control.ts';
import type { PageAction } from './page/protocol.ts';
import { drawReplies, post } from './screenshot-replies.ts';

const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };

interface Look {
  /** Whether the first-run tour is on the page. */
  tour?: boolean;
  colors?: 'dark' | 'light';
  size?: { width: number; height: number };
}

/** Opens the page in a browser context of its own. */
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

/** Types a command and waits for the bot's reply. */
async function use(page: Page, command: string): Promise<void> {
  const before = await page.locator('.above').count();
  await page.locator('#composer').fill(`/${command} `);
  await page.locator('.command').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.above').nth(before).waitFor();
  await page.locator('.thinking').waitFor({ state: 'detached' });
}

const act = (url: string, action: PageAction): Promise<unknown> => post(`${url}/_sandbox/act`, action);

const goTo = (page: Page, channel: string): Promise<void> =>
  page.locator('.channels li button', { hasText: channel }).first().click();

/** Sends the ten transfers that the pictures show, in their order. */
async function stage(url: string): Promise<void> {
  const between = { from: 'Alice', to: 'Treasury' };
  await act(url, { do: 'transfer', kind: 'erc20', from: 'Bob', to: 'Treasury', amount: '75' });
  await act(url, { do: 'transfer', kind: 'native', from: 'Payroll', to: 'Carol', amount: '0.85' });
  await act(url, { do: 'transfer', kind: 'native', from: 'Treasury', to: 'Grants', amount: '6' });
  await act(url, { do: 'transfer', kind: 'erc20', from: 'Payroll', to: 'Bob', amount: '940' });
  await act(url, { do: 'transfer', kind: 'internal', from: 'Grants', to: 'Treasury', amount: '0.4' });
  await act(url, { do: 'transfer', kind: 'native', from: 'Whale', to: 'Treasury', amount: '12.5' });
  await act(url, { do: 'transfer', kind: 'erc721', from: 'Treasury', to: 'Market' });
  await act(url, { do: 'transfer', kind: 'erc1155', ...between, amount: '3' });
  await act(url, { do: 'transfer', kind: 'erc20', from: 'Treasury', to: 'Payroll', amount: '1250' });
  await act(url, { do: 'transfer', kind: 'erc20', ...between, amount: '18400.75' });
}

/** Sends the rarer kinds one after another, and waits for each alert by its title. */
async function stageRest(page: Page, url: string): Promise<void> {
  const rest: [action: PageAction, title: string][] = [
    [{ do: 'fake', from: 'Alice', to: 'Treasury' }, 'Imitation!'],
    [{ do: 'lookalike', like: 'Payroll', to: 'Treasury' }, 'Look-alike address!'],
    [{ do: 'sweep', from: 'Treasury', to: 'Market', count: 5 }, '−5 × '],
    [{ do: 'swap', from: 'Treasury' }, '🔄'],
    [{ do: 'burn', from: 'Treasury' }, '🔥'],
    [{ do: 'mint', to: 'Treasury' }, '✨'],
  ];
  for (const [action, title] of rest) {
    await act(url, action);
    await page.locator('.message', { hasText: title }).waitFor();
  }
}

/** Saves a picture of every alert in the channel, from the first one on. */
async function saveWhole(page: Page, name: string): Promise<void> {
  const alerts = page.locator('.message', { has: page.locator('[data-custom-id^="why:show:"]') });
  const first = await alerts.first().boundingBox();
  const list = 'document.querySelector("#messages")';
  const below = (await page.evaluate(`${list}.scrollHeight - ${list}.scrollTop`)) as number;
  await page.setViewportSize({ width: DESKTOP.width, height: Math.ceil(below - first!.y) + 160 });
  await page.locator('.channel').screenshot({ path: `${FOLDER}${name}.png` });
  await page.setViewportSize(DESKTOP);
}

/** Sends 100 transfers while Discord limits the bot's rate: too many alerts to post one by one. */
async function backlog(url: string): Promise<void> {
  const rule: FaultRule = {
    fault: { kind: 'rate-limit', retryAfterMs: 8_000 },
    method: 'POST',
    path: '/channels/:channel/messages',
    times: 1,
  };
  await post(`${url}/_control/faults`, rule);
  await act(url, { do: 'burst', count: 100 });
}

async function draw(browser: Browser, url: string): Promise<void> {
  const tour = await open(browser, url, { tour: true });
  await save(tour, 'tour');
  await stage(url);
  const page = await open(browser, url, {});
  await page.locator('.message', { hasText: '18,400.75' }).waitFor();
  await save(page, 'alerts');
  const light = await open(browser, url, { colors: 'light' });
  await light.locator('.message', { hasText: '18,400.75' }).waitFor();
  await light.locator('#tab-send').click();
  await save(light, 'alerts-light');
  const small = await open(browser, url, { size: PHONE });
  await small.locator('.message', { hasText: '18,400.75' }).waitFor();
  await save(small, 'alerts-phone');
  await stageRest(page, url);
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
  await drawReplies(page, url, `${FOLDER}commands/`);
  await goTo(page, 'alerts');
  await act(url, { do: 'bot', what: 'kill' });
  await act(url, { do: 'transfer', kind: 'native', from: 'Grants', to: 'Treasury', amount: '2' });
  await page.locator('.trouble').first().waitFor();
  await save(page, 'nothing-lost');
  await act(url, { do: 'bot', what: 'start' });
  await page.locator('.status', { hasText: 'Bot is running' }).waitFor();
  await backlog(url);
  await page.locator('.embed', { hasText: 'Digest' }).waitFor({ timeout: 60_000 });
  await page.locator('.transactions', { hasText: 'in a digest' }).waitFor();
  await save(page, 'digest');
}

/** Starts a sandbox, which stops with the stack. Returns its address. */
async function start(stack: AsyncDisposableStack): Promise<string> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, SANDBOX_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += chunk as string;
    const url = /browser:\s+(http:\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The sandbox did not start. Its output:\n${output}`);
}

const chromium = findChromium();
if (chromium === null) throw new Error('The pictures need Chromium: apt-get install chromium fonts-noto-color-emoji');
makeFolder(FOLDER);
await using stack = new AsyncDisposableStack();
const url = await start(stack);
const browser = stack.use(await launchChromium(chromium));
await draw(browser, url);
console.log(`The pictures are in ${FOLDER}`);
