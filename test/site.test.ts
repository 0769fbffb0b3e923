import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { launchChromium } from '../sandbox/browser.ts';
import { listen } from './listen.ts';
import { testBrowser } from './sandbox/chromium.ts';

const ROOT = resolve(import.meta.dirname, '..');
const chromium = testBrowser();

async function serve(folder: string): Promise<{ url: string; close(): void }> {
  const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css', png: 'image/png' };
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURI(new URL(url, 'http://site').pathname).replace(/\/$/, '/index.html');
    try {
      response.setHeader('content-type', types[path.split('.').at(-1)!] ?? 'application/octet-stream');
      response.end(readFileSync(join(folder, path)));
    } catch {
      response.writeHead(404).end();
    }
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => void server.close() };
}

it.skipIf(chromium === null)(
  'builds a site whose pages fit a phone and a desktop, with search and all pictures',
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'site-')), (path) => rmSync(path, { recursive: true }));
    // Fails at a link that leads to no page.
    execFileSync('npx', ['vitepress', 'build', 'docs', '--outDir', folder], { cwd: ROOT, stdio: 'pipe' });
    const pages = globSync('**/*.html', { cwd: folder }).filter((name) => name !== '404.html');
    expect(pages.length).toBeGreaterThan(30);
    const site = stack.adopt(await serve(folder), (it) => it.close());
    const browser = stack.adopt(await launchChromium(chromium!), (it) => it.close());
    const wrong: string[] = [];
    for (const width of [390, 1280]) {
      const page = await browser.newPage({ viewport: { width, height: 800 } });
      page.on('requestfailed', (request) => {
        // A page fetches what it links to, and stops that when the next one opens.
        if (request.failure()?.errorText !== 'net::ERR_ABORTED')
          wrong.push(`${page.url()} cannot load ${request.url()}`);
      });
      page.on('response', (response) => {
        if (response.status() >= 400 || !response.url().startsWith(site.url))
          wrong.push(`${page.url()}: ${response.url()}`);
      });
      for (const name of pages) {
        await page.goto(`${site.url}/${name}`);
        const found = await page.evaluate(`(async () => {
        for (const image of document.images) image.loading = 'eager';
        const shown = await Promise.allSettled([...document.images].map((image) => image.decode()));
        const isCut = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth;
        return {
          isWide: isCut(document.documentElement),
          cut: [...document.querySelectorAll('table')].filter(isCut).length,
          broken: shown.filter((one) => one.status === 'rejected').length,
        };
      })()`);
        const { isWide, cut, broken } = found as { isWide: boolean; cut: number; broken: number };
        if (isWide) wrong.push(`${name} is wider than ${width} px`);
        if (cut > 0 && width > 1_000) wrong.push(`${name} cuts ${cut} tables at ${width} px`);
        if (broken > 0) wrong.push(`${name} lacks ${broken} pictures`);
      }
    }
    const page = await browser.newPage();
    await page.goto(`${site.url}/architecture.html`);
    expect(await page.locator('img.diagram').count()).toBe(2);
    await page.locator('.VPNavBarSearch button').click();
    await page.locator('#localsearch-input').fill('quarantine');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    expect(wrong).toEqual([]);
  },
);
