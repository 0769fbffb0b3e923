import type { Browser, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { findChromium, launchChromium } from '../../sandbox/browser.ts';

/** The browser that tests drive; null where there is none, and they must be skipped. CI installs it and fails without it. */
export function testBrowser(): string | null {
  const chromium = findChromium();
  if (chromium !== null) return chromium;
  const what = 'No Chromium was found (/usr/bin/chromium), so pages are not tested: apt-get install chromium';
  if (process.env.CI) throw new Error(what);
  console.warn(what);
  return null;
}

/** Opens the sandbox's page. `faults` has console errors, exceptions, and requests to anywhere else. */
export async function openPage(
  executable: string,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ page: Page; faults: string[] }> {
  const browser = await launchChromium(executable);
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(280_000);
  const faults: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') faults.push(`console: ${line.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`foreign request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}
