import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { openPage, testBrowser } from './chromium.ts';
import { act, addressOf, follow, run, sharedSandbox } from './run.ts';

const chromium = testBrowser();

const { alerts } = seed.harbor;

const shared = sharedSandbox();

/** Opens the page of a sandbox as a newcomer; `isNew`: of one of its own. */
async function visit(options: Parameters<typeof openPage>[2] = {}, isNew = false) {
  const url = await (isNew ? addressOf(run('0')) : shared());
  const news = await follow(url);
  return { ...(await openPage(chromium!, url, options)), news, url };
}

async function type(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Message #/ }).focus();
  await page.keyboard.type(text);
}

const lastReply = (page: Page, command: string) =>
  page.locator('article.message', { has: page.locator('.above', { hasText: `used /${command}` }) }).last();

describe.skipIf(chromium === null)('the page in a browser', () => {
  it('shows each person their own channels, replies and language', async () => {
    const { page, faults } = await visit();
    await page.getByText('Watching Treasury').first().waitFor();
    await page.getByRole('button', { name: /be another person/ }).click();
    await page.getByRole('radio', { name: /Mia/ }).check();
    await page.getByText('Only you can see this').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('navigation').getByRole('button', { name: 'treasury' }).count()).toBe(0);
    await type(page, '/setup check ');
    await page.keyboard.press('Enter');
    const reply = lastReply(page, 'setup check');
    // Mia's Discord is German.
    await reply
      .getByText(/Server verwalten/)
      .first()
      .waitFor();
    await type(page, '/hil');
    await page.getByRole('option', { name: '/hilfe' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await lastReply(page, 'help').getByText('Adressen beobachten').waitFor();
    expect(faults).toEqual([]);
  });

  it('works from the keyboard alone and shows the errors that the bot replies with', async () => {
    const { page, faults } = await visit();
    await type(page, '/subscription add 0x12');
    await page.keyboard.press('Enter');
    await lastReply(page, 'subscription add').getByText(/40/).first().waitFor();
    await type(page, '/help');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await lastReply(page, 'help').waitFor();
    await page.getByRole('button', { name: /be another person/ }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('button', { name: /Mia.*be another person/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Events' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('tab', { name: 'Break', selected: true }).waitFor();
    // A long reply scrolls the messages, not the page.
    await type(page, '/help ');
    await page.keyboard.press('Enter');
    await lastReply(page, 'help').waitFor();
    expect(await page.evaluate('document.scrollingElement.scrollTop')).toBe(0);
    expect(faults).toEqual([]);
  });

  it('shows hostile text as text, without pictures, scripts or foreign links', async () => {
    const { page, news, url, faults } = await visit();
    const content =
      '<img src=x onerror=alert(1)> **bold** [x](javascript:alert(1)) [here](https://example.com/) <t:0:R>';
    await fetch(`${url}/_control/world`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ do: 'message.send', channelId: alerts, userId: seed.mia, content }),
    });
    const message = page.locator('article.message', { hasText: 'onerror' });
    await message.waitFor();
    expect(await message.locator('img').count()).toBe(0);
    expect(await message.locator('strong', { hasText: 'bold' }).count()).toBe(1);
    expect(await message.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
      'https://example.com/',
    ]);
    expect(await message.innerText()).toContain('[x](javascript:alert(1))');
    await act(url, { do: 'transfer', kind: 'erc20', token: 'hostile', from: 'Treasury', to: 'Bob' });
    const { address } = news.world().tokens.hostile;
    await page.locator('article.message', { hasText: 'A token can claim this' }).waitFor();
    expect(news.shown(alerts).some(({ text }) => text.includes(address))).toBe(true);
    expect(await page.locator('a[href*="claim.example"], a[href*="evil.example"]').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('fits a phone, with drawers for the channels and the panel', async () => {
    const { page, faults } = await visit(
      { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'light' },
      true,
    );
    await page.getByRole('button', { name: 'Send a swap' }).first().click();
    await page.getByRole('heading', { name: /See it arrive/ }).waitFor();
    const tooWide = () => page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
    expect(await tooWide(), 'the pixels beyond the screen').toBe(0);
    await page.getByRole('button', { name: 'Servers and channels' }).click();
    await page.getByRole('navigation').getByRole('button', { name: 'whales' }).click();
    await page.getByRole('heading', { name: 'whales', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'World' }).click();
    await page.getByRole('tab', { name: 'Break' }).click();
    // There is no Escape on a phone.
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('tab', { name: 'Break' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'World' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Break' }).waitFor({ state: 'hidden' });
    expect(await tooWide(), 'the pixels beyond the screen').toBe(0);
    const background = () => page.evaluate('getComputedStyle(document.querySelector(".channel")).backgroundColor');
    expect(await background()).toBe('rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Servers and channels' }).click();
    await page.getByRole('button', { name: /Change to dark/ }).click();
    await page.waitForFunction('document.documentElement.dataset.theme === "dark"');
    expect(await background()).toBe('rgb(49, 51, 56)');
    expect(faults).toEqual([]);
  });

  it('gives every control an accessible name', async () => {
    const { page } = await visit({}, true);
    await page.getByRole('button', { name: 'Send a swap' }).first().click();
    await page.getByRole('heading', { name: /See it arrive/ }).waitFor();
    for (const tab of ['Events', 'Send', 'Watch', 'Break']) {
      await page.getByRole('tab', { name: tab }).click();
      const tree = await page.locator('body').ariaSnapshot();
      const nameless = tree
        .split('\n')
        .filter((line) => /- (button|link|textbox|combobox|checkbox|radio|tab|img)(?: \[.*\])?:?$/.test(line));
      expect(nameless).toEqual([]);
    }
  });

  it('guides a newcomer from a swap to a crash that loses nothing', async () => {
    const { page, faults } = await visit({}, true);
    const tour = page.getByRole('region', { name: /^Tour, step/ });
    await tour.getByRole('button', { name: 'Send a swap' }).click();
    await tour.getByRole('button', { name: 'Next' }).click();
    await tour.getByRole('button', { name: 'Kill the bot' }).click();
    await tour.getByRole('button', { name: 'Send 20 transfers' }).click();
    await tour.getByText('20 transfers were mined while the bot was down').waitFor();
    await page
      .getByText(/The service retries in \d+ s/)
      .first()
      .waitFor();
    await tour.getByRole('button', { name: 'Start the bot' }).click();
    await tour.getByRole('button', { name: 'Deliver now' }).click();
    await tour.getByText('All 20 transfers are posted, each once. Nothing was lost.').waitFor();
    await tour.getByRole('button', { name: 'Finish' }).click();
    await page.reload();
    await page.getByRole('textbox', { name: /^Message #/ }).waitFor();
    expect(await tour.count()).toBe(0);
    await page.getByRole('button', { name: 'Tour' }).click();
    await tour.getByRole('heading', { name: /Send a swap/ }).waitFor();
    expect(faults).toEqual([]);
  });

  it('keeps the person, the channel, the tab and the typed command over a reload', async () => {
    const { page, faults } = await visit();
    await page.getByRole('button', { name: /be another person/ }).click();
    await page.getByRole('radio', { name: /Max/ }).check();
    await page.getByText('Max’s Discord is in English, so the bot replies in English.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').getByRole('button', { name: 'whales' }).click();
    await page.getByRole('tab', { name: 'Break' }).click();
    await type(page, '/subscription add 0x12');
    await page.reload();
    await page.getByRole('heading', { name: 'whales', level: 1 }).waitFor();
    await page.getByRole('button', { name: /Max.*be another person/ }).waitFor();
    await page.getByRole('tab', { name: 'Break', selected: true }).waitFor();
    expect(await page.getByRole('combobox', { name: 'address' }).inputValue()).toBe('0x12');
    expect(faults).toEqual([]);
  });

  it('puts a refused command back on the line, and refuses a message above 2,000 characters', async () => {
    const { page, faults } = await visit();
    await type(page, '/provider search wallets');
    await page.getByRole('button', { name: /optional$/ }).click();
    await page.getByRole('option', { name: /^page/ }).click();
    await page.keyboard.type('0');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'page' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'page' }).inputValue()).toBe('0');
    await page.getByRole('button', { name: 'Leave the command' }).click();
    const line = page.getByRole('textbox', { name: /^Message #/ });
    await line.fill(`${'a'.repeat(1_000)}\n${'b'.repeat(1_000)}`);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'at most 2,000 characters' }).waitFor();
    expect((await line.inputValue()).split('\n')).toHaveLength(2);
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
  });

  it('takes a newcomer through subscribing and looking up, from the keyboard and the panel', async () => {
    const { page, news, url, faults } = await visit({}, true);
    const { wallets, tokens } = news.world();
    const alert = (text: string) => page.locator('article.message', { hasText: text });
    const tab = (name: string) => page.getByRole('tab', { name });
    const world = page.getByRole('tabpanel');

    // Subscribing: the list opens on a slash, the options follow, Enter sends.
    await type(page, '/');
    await page.getByRole('option', { name: '/webhook remove' }).waitFor();
    await page.keyboard.type('subscription add ');
    await page.keyboard.type(wallets.Whale!);
    await page.getByRole('button', { name: /optional$/ }).click();
    await page.getByRole('option', { name: /^label/ }).click();
    await page.keyboard.type('The whale');
    await page.keyboard.press('Enter');
    await lastReply(page, 'subscription add').getByText('Watching The whale').waitFor();
    await lastReply(page, 'subscription add').getByText('Only you can see this').waitFor();

    // The bot added it to the webhook in the same step, so a transfer becomes an alert.
    await tab('Watch').click();
    const watched = world.getByRole('list', { name: 'Watched addresses' }).getByRole('listitem');
    await watched.filter({ hasText: wallets.Whale! }).waitFor();
    await tab('Send').click();
    await world.getByLabel('From').selectOption('Bob');
    await world.getByLabel('To', { exact: true }).selectOption('Whale');
    await world.getByLabel('Amount').fill('1234.5');
    await world.getByRole('button', { name: 'Send', exact: true }).click();
    await alert('+1,234.5 HUSD').getByText('The whale', { exact: true }).waitFor();
    await tab('Events').click();
    const entry = world.getByRole('listitem').filter({ hasText: 'Bob sends 1234.5 HUSD to Whale' });
    await entry.getByText('Posted in #alerts (Harbor DAO)').waitFor();

    await type(page, `/token ${tokens.dollar.address}`);
    await page.keyboard.press('Enter');
    await lastReply(page, 'token').getByText('Harbor Dollar').first().waitFor();

    // Providers, by pages; the category comes from the bot's own suggestions.
    await type(page, '/provider search wal');
    await page.getByRole('option', { name: /wallets/i }).click();
    await page.keyboard.press('Enter');
    const providers = lastReply(page, 'provider search');
    const first = await providers.locator('.embed').innerText();
    await providers.getByRole('button', { name: /Next/ }).click();
    await providers.getByText('(edited)').waitFor();
    expect(await providers.locator('.embed').innerText()).not.toBe(first);

    // A press counts although a message comes while the button is held.
    await providers.getByRole('button', { name: /Back/ }).hover();
    await page.mouse.down();
    const shown = news.messages(alerts).length;
    await act(url, { do: 'transfer', kind: 'erc20', from: 'Alice', to: 'Treasury' });
    await news.until('another alert is posted', () => news.messages(alerts).length > shown);
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    await page.mouse.up();
    await expect.poll(() => providers.locator('.embed').innerText(), { timeout: 60_000 }).toBe(first);

    // Taking the address out of the webhook again: a preview, then a button.
    await type(page, '/webhook remove ');
    await page.getByRole('option', { name: /posts here/ }).click();
    await page.keyboard.type(wallets.Whale!);
    await page.keyboard.press('Enter');
    await lastReply(page, 'webhook remove').getByRole('button', { name: 'Remove' }).click();
    await news.until('the webhook no longer watches the whale', () => !news.world().watched.includes(wallets.Whale!));

    expect(faults).toEqual([]);
  });
});
