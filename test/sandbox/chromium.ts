import { findChromium } from '../../sandbox/browser.ts';

/** The browser that tests drive; null where there is none, and they must be skipped. CI installs it and fails without it. */
export function testBrowser(): string | null {
  const chromium = findChromium();
  if (chromium !== null) return chromium;
  const what = 'No Chromium was found (/usr/bin/chromium), so pages are not tested: apt-get install chromium';
  if (process.env.CI) throw new Error(what);
  console.warn(what);
  return null;
}
