/** The page with a bot that uses everything a bot can show: forms, menus, files, edits, new layouts. */
import { once } from 'node:events';
import { type Client, Events, type Message, type TextChannel } from 'discord.js';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, seed } from '../../sandbox/discord/index.ts';
import { listenForPage } from '../../sandbox/page/server.ts';
import type { Sandbox } from '../../sandbox/running.ts';
import { standIn } from '../discord-stand-in/bot.ts';
import { logInShowcase } from '../discord-stand-in/showcase.ts';
import { openPage, testBrowser } from './chromium.ts';

const chromium = testBrowser();
const { alerts } = seed.harbor;
const ADDRESS = '0x0000000000000000000000000000000000000001';
const TOKEN = { address: ADDRESS, type: 'ERC-20', name: 'A token', symbol: 'TKN', decimals: 6 } as const;

const STILL: Sandbox['world'] = {
  title: 'Harbor Chain',
  second: null,
  found: 0,
  marked: 0,
  wallets: { Treasury: ADDRESS },
  tokens: { dollar: TOKEN, bell: TOKEN, hostile: TOKEN, fake: TOKEN, keys: TOKEN, names: TOKEN, supplies: TOKEN },
  watched: [],
  notification: { repeat: 0, repeatAfterMs: 0, delayMs: 0, reorder: false, paused: false, lose: false, invent: false },
  bot: { state: 'running', pid: 1, starts: 1, since: 0, note: null },
  prices: 'none',
  traffic: false,
  explorerUrl: 'http://127.0.0.1:1/explorer',
};

async function visit() {
  // The clock stands still: a busy machine's response times must not matter here.
  const clock = createManualClock(Date.now());
  const discord = await standIn({ clock, limits: 'none' });
  const server = await listenForPage(0);
  onTestFinished(() => server.close());
  const client = await logInShowcase(discord);
  server.show({ discord, world: STILL, transactions: [], act: async () => '', on: () => () => undefined });
  const { page, faults } = await openPage(chromium!, server.url, { viewport: { width: 1280, height: 720 } });
  await page.getByRole('textbox', { name: 'Message #alerts' }).waitFor();
  return { page, clock, discord, client, faults };
}

async function use(page: Page, command: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message #alerts' }).focus();
  await page.keyboard.type(`/${command} `);
  await page.keyboard.press('Enter');
}

async function send(client: Client, content: string): Promise<Message> {
  return ((await client.channels.fetch(alerts)) as TextChannel).send(content);
}

const message = (page: Page, text: string | RegExp) => page.locator('article.message', { hasText: text });

describe.skipIf(chromium === null)('the page with a bot of its own', () => {
  it('opens, checks and submits forms of a bot, and takes commands after one was canceled', async () => {
    const { page, faults } = await visit();
    await use(page, 'form');
    const form = page.getByRole('dialog', { name: 'Who are you?' });
    await form.waitFor();
    await page.keyboard.type('A');
    await page.keyboard.press('Enter');
    expect(await form.isVisible()).toBe(true);
    await page.keyboard.type('da');
    await page.keyboard.press('Enter');
    await message(page, 'Welcome, Ada.').waitFor();
    await form.waitFor({ state: 'detached' });
    await use(page, 'form');
    await form.waitFor();
    await form.getByRole('textbox').click();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await use(page, 'count');
    await message(page, 'It is 0').waitFor();
    expect(faults).toEqual([]);
  });

  it('chooses several options of a menu from the keyboard', async () => {
    const { page, faults } = await visit();
    await use(page, 'menu');
    const menu = page.getByRole('combobox', { name: 'Colors' });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: /Red/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await message(page, 'Chosen: red and blue').waitFor();
    await page.getByRole('button', { name: 'Dismiss message' }).click();
    await message(page, 'Chosen: red and blue').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('presses buttons, and shows edited and deleted messages', async () => {
    const { page, client, faults } = await visit();
    await use(page, 'count');
    for (const count of [1, 2, 3]) {
      await page.getByRole('button', { name: 'More' }).click();
      await message(page, `It is ${count}`).waitFor();
    }
    await message(page, 'It is 3').getByText('(edited)').waitFor();
    const sent = await send(client, 'Soon gone');
    await message(page, 'Soon gone').waitFor();
    await sent.delete();
    await message(page, 'Soon gone').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('runs a command from a message’s menu from the keyboard', async () => {
    const { page, client, faults } = await visit();
    await send(client, 'A saying');
    await message(page, 'A saying').getByLabel('Apps for this message').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await message(page, 'Quoted: A saying').locator('.above', { hasText: 'used Quote this' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('sends files to commands, and shows files and layouts', async () => {
    const { page, faults } = await visit();
    await page.getByRole('textbox', { name: 'Message #alerts' }).focus();
    await page.keyboard.type('/import ');
    await page
      .locator('#option-file')
      .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') });
    await page.getByRole('button', { name: 'Send', exact: true }).first().click();
    await message(page, 'list.csv: a,b').getByRole('link', { name: 'copy.csv' }).waitFor();
    await use(page, 'layout');
    await message(page, 'A bold layout').getByRole('heading').waitFor();
    expect(faults).toEqual([]);
  });

  it('names a missing option, offers choices, and reports that the bot did not respond', async () => {
    const { page, clock, client, faults } = await visit();
    await use(page, 'echo');
    await page.getByRole('alert').filter({ hasText: 'text is required' }).waitFor();
    await page.locator('#option-text').focus();
    await page.keyboard.type('Hello');
    await page.getByRole('button', { name: '+ 1 optional' }).click();
    await page.getByRole('option', { name: /^size/ }).click();
    await page.getByRole('option', { name: 'Loud' }).click();
    await page.keyboard.press('Enter');
    await message(page, 'Hello (loud)').waitFor();
    await page.getByRole('textbox', { name: 'Message #alerts' }).fill('/echo text:one two size:Quiet');
    await page.keyboard.press('Enter');
    await message(page, 'one two (quiet)').waitFor();
    const asked = once(client, Events.InteractionCreate);
    await use(page, 'sleep');
    await asked;
    clock.advance(3_000);
    await message(page, 'The application did not respond').waitFor();
    expect(faults).toEqual([]);
  });
});
