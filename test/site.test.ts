import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeSite } from '../docs/site/make.ts';
import { launchChromium } from '../sandbox/browser.ts';
import { testBrowser } from './sandbox/chromium.ts';

/** The documentation site in a browser. */

const chromium = testBrowser();

it.skipIf(chromium === null)('fits every page to a phone and to a desktop, with all its pictures', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'site-')), (path) => rmSync(path, { recursive: true }));
  const files = makeSite(folder).filter((name) => name.endsWith('.html') && name !== 'index.html');
  const browser = stack.adopt(await launchChromium(chromium!), (it) => it.close());
  const wrong: string[] = [];
  for (const width of [390, 1280]) {
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    for (const file of files) {
      await page.goto(`file://${join(folder, file)}`);
      const found = await page.evaluate(`(async () => {
        for (const image of document.images) image.loading = 'eager';
        const shown = await Promise.allSettled([...document.images].map((image) => image.decode()));
        const { scrollWidth, clientWidth } = document.documentElement;
        return { isWide: scrollWidth > clientWidth, broken: shown.filter((one) => one.status === 'rejected').length };
      })()`);
      const { isWide, broken } = found as { isWide: boolean; broken: number };
      if (isWide) wrong.push(`${file} is wider than ${width} px`);
      if (broken > 0) wrong.push(`${file} lacks ${broken} pictures`);
    }
  }
  expect(wrong).toEqual([]);
});
