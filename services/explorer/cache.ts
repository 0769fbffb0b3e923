import { type Clock, SECOND } from '../../src/domain/clock.ts';

export class TooBusy extends Error {}

const FRESH_MS = 10 * SECOND;
const MAX_PAGES = 500;
const MAX_UNDER_WAY = 8;
const MAX_WAITING = 64;

export function createPageCache<Page>(clock: Clock) {
  const pages = new Map<string, { page: Promise<Page>; at: number }>();
  const waiting: (() => void)[] = [];
  let underWay = 0;

  async function inTurn(make: () => Promise<Page>): Promise<Page> {
    if (underWay >= MAX_UNDER_WAY) {
      if (waiting.length >= MAX_WAITING) throw new TooBusy('Too many pages are being made. Try again in some seconds');
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    underWay++;
    try {
      return await make();
    } finally {
      underWay--;
      waiting.shift()?.();
    }
  }

  return {
    /** A page is made once for all who ask at the same time. @throws {TooBusy} */
    get(key: string, make: () => Promise<Page>): Promise<Page> {
      const known = pages.get(key);
      if (known !== undefined && clock.now() - known.at < FRESH_MS) return known.page;
      const page = inTurn(make);
      const entry = { page, at: clock.now() };
      pages.delete(key);
      pages.set(key, entry);
      if (pages.size > MAX_PAGES) pages.delete(pages.keys().next().value!);
      page.catch(() => {
        // A newer page may have taken its place.
        if (pages.get(key) === entry) pages.delete(key);
      });
      return page;
    },
  };
}
