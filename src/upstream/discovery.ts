import { hash } from 'node:crypto';
import { type Clock, inTime, MINUTE } from '../domain/clock.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { type ClientOptions, call, createCache, type HttpResult, isObject, jsonOf } from './http.ts';

/** The categories of the specification, for when the service cannot be asked. */
const KNOWN_CATEGORIES = [
  'mcpservers',
  'analytics',
  'wallets',
  'explorers',
  'apis',
  'oracles',
  'bridges',
  'services',
  'sdks',
  'platforms',
  'security',
  'storages',
] as const;

export interface ProviderQuery {
  category: string;
  search: string | null;
  /** Only these, by their exact names; empty: all. */
  providers: readonly string[];
}

/** All rows of a query in the service's order; `complete` is false when a later page was missing or there are too many. */
export type RowsResult = { status: 'ok'; rows: ProviderRow[]; complete: boolean } | UpstreamFailure;

export type DiscoveryOptions = ClientOptions & Pick<Clock, 'now' | 'after'>;

const PAGE_SIZE = 50;
const MAX_PAGES = 20;
const CATEGORIES_CACHE_MS = 5 * MINUTE;
const ROWS_CACHE_MS = MINUTE;
/** Maximum number of characters in the rows of one result; a longer one is cut and not cached. */
const MAX_CHARACTERS = 2_000_000;
const MAX_CACHED = 20;
const MAX_KEPT = 1_000;
/** How a service responds to a page that does not exist. */
const BEYOND: readonly UpstreamFailure['status'][] = ['rejected', 'unreadable'];

export type Discovery = ReturnType<typeof createDiscovery>;

export function createDiscovery({ url, now, after, timeoutMs = 8_000, onResponse }: DiscoveryOptions) {
  let lastKnown: string[] = [...KNOWN_CATEGORIES];
  const cachedCategories = createCache<string[] | null>(1, now);
  const cached = createCache<RowsResult>(MAX_CACHED, now);
  const queries = new Map<string, ProviderQuery>();
  const loadRows = createRowsReader(url, timeoutMs);

  async function loadCategories(): Promise<string[] | null> {
    const response = jsonOf(await call({ url: new URL(`${url}/api/infrastructure-providers/categories`), timeoutMs }));
    const keys = response.status === 'ok' ? readCategories(response.json) : [];
    if (keys.length === 0) {
      onResponse?.(response.status === 'ok' ? { status: 'unreadable' } : response);
      return null;
    }
    onResponse?.(null);
    lastKnown = keys;
    return keys;
  }

  function reported(response: RowsResult): RowsResult {
    // A service that rejects a search works.
    onResponse?.(response.status === 'ok' || response.status === 'rejected' ? null : response);
    return response;
  }

  return {
    probe: loadCategories,

    /** If the service does not respond `withinMs`, the last known categories or the specified ones. */
    async categories(withinMs = timeoutMs): Promise<{ keys: string[]; live: boolean }> {
      const loading = cachedCategories('', {
        load: loadCategories,
        keepMs: (keys) => (keys ? CATEGORIES_CACHE_MS : 0),
      });
      const keys = await inTime(loading, withinMs, { after });
      return { keys: keys ?? lastKnown, live: keys !== null };
    },

    /** `beforeCall` may throw; cached rows need no call. */
    rows: (query: ProviderQuery, beforeCall?: () => void): Promise<RowsResult> =>
      cached(JSON.stringify([query.category, query.search, query.providers]), {
        load() {
          beforeCall?.();
          return loadRows(query).then(reported);
        },
        keepMs: (response) => (response.status === 'ok' && response.complete ? ROWS_CACHE_MS : 0),
      }),

    /** Returns a short key, which no category has, for a query that is too long to repeat. A restart forgets it. */
    keep(query: ProviderQuery): string {
      const key = `=${hash('sha256', JSON.stringify(query)).slice(0, 32)}`;
      queries.delete(key);
      queries.set(key, query);
      if (queries.size > MAX_KEPT) queries.delete(queries.keys().next().value!);
      return key;
    },
    kept: (key: string): ProviderQuery | undefined => queries.get(key),

    directoryUrl(category: string, search: string | null): string {
      const target = new URL(`${url}/toolbox/${encodeURIComponent(category)}`);
      if (search !== null) target.searchParams.set('search', search);
      return percentEncoded(target).href;
    },
  };
}

type Answer = Page | UpstreamFailure;

function createRowsReader(url: string, timeoutMs: number) {
  /** Whether the service accepts a page size, as far as its responses have shown. */
  let takesPageSize = true;
  /** Which number is the first is not published: both are asked for until responses show it. */
  let firstPage: 0 | 1 | null = null;

  async function askPage(query: ProviderQuery, page: number): Promise<Answer> {
    const target = new URL(`${url}/api/infrastructure-providers/rows`);
    target.searchParams.set('category', query.category);
    if (query.search !== null) target.searchParams.set('search', query.search);
    if (query.providers.length > 0) {
      target.searchParams.set('filters', JSON.stringify([{ id: 'provider', value: query.providers }]));
    }
    target.searchParams.set('page', String(page));
    if (takesPageSize) target.searchParams.set('pageSize', String(PAGE_SIZE));
    return readPage(await call({ url: percentEncoded(target), timeoutMs }), query.category);
  }

  /** A service that refuses all of them may refuse the page size. */
  async function firstPages(query: ProviderQuery, numbers: readonly number[]): Promise<Answer[]> {
    const request = () => Promise.all(numbers.map((page) => askPage(query, page)));
    const responses = await request();
    if (!takesPageSize || !responses.every((page) => isFailure(page) && page.status === 'rejected')) return responses;
    takesPageSize = false;
    const again = await request();
    // If it refuses these, too, the page size was not the reason.
    takesPageSize = again.every(isFailure);
    return takesPageSize ? responses : again;
  }

  return async (query: ProviderQuery): Promise<RowsResult> => {
    const numbers = firstPage === null ? [0, 1] : [firstPage];
    const pages = await firstPages(query, numbers);
    const last = pages.at(-1)!;
    if (isFailure(last) && pages.every(isFailure)) return last;
    if (firstPage === null) firstPage = firstOf(pages.map(rowsOf));
    const found = gather();
    let more = false;
    for (const page of pages) {
      if (isFailure(page)) continue;
      const added = found.add(page);
      // A repeated first page (0 read as 1) shows nothing about further pages.
      more = found.isFull(page) && (added || page === last);
    }
    // Where pages start at 1, page 0 may be refused or break the service. If it does not respond, it may contain the first rows.
    const isMissing = (page: Answer) =>
      isFailure(page) && !BEYOND.includes(page.status) && (page === last || page.status !== 'broken');
    let complete = !pages.some(isMissing);
    for (let next = numbers.at(-1)! + 1; more && !found.isWhole(); next++) {
      const page = next < MAX_PAGES ? await askPage(query, next) : null;
      if (!page || isFailure(page)) {
        // If the last page is full, some services refuse the next one.
        complete &&= page?.status === 'rejected' && found.total() === null;
        break;
      }
      more = found.add(page) && found.isFull(page);
    }
    if (found.isCut()) complete = false;
    const rows = found.rows();
    // The page that failed may be the one with rows.
    const failed = pages.find(isFailure);
    if (rows.length === 0 && !complete && failed) return failed;
    return { status: 'ok', rows: rows.flatMap((row) => toRow(row) ?? []), complete };
  };
}

const isFailure = (page: Answer): page is UpstreamFailure => 'status' in page;

/** null: not known. */
const rowsOf = (page: Answer): unknown[] | null =>
  isFailure(page) ? (page.status === 'rejected' ? [] : null) : page.rows;

/** By the rows of the pages 0 and 1; null: these do not show it. */
function firstOf([zeroth, first]: readonly (unknown[] | null)[]): 0 | 1 | null {
  if (!zeroth || !first || zeroth.length + first.length === 0) return null;
  return zeroth.length === 0 || JSON.stringify(zeroth) === JSON.stringify(first) ? 1 : 0;
}

function gather() {
  const rows = new Map<string, unknown>();
  let total: number | null = null;
  let longest = 0;
  let characters = 0;
  return {
    add(page: Page): boolean {
      const before = rows.size;
      for (const row of page.rows) {
        const text = JSON.stringify(row);
        if (rows.has(text)) continue;
        characters += text.length;
        if (characters > MAX_CHARACTERS) return false;
        rows.set(text, row);
      }
      total = page.total ?? total;
      longest = Math.max(longest, page.rows.length);
      return rows.size > before;
    },
    rows: () => [...rows.values()],
    total: () => total,
    isWhole: () => total !== null && rows.size >= total,
    isCut: () => characters > MAX_CHARACTERS,
    /** Whether the page was as full as any, so that another one may follow. */
    isFull: ({ rows: { length } }: Page) => length > 0 && length === longest,
  };
}

/** Writes blanks as `%20`, which every server decodes. A plus means a blank only in forms. */
function percentEncoded(url: URL): URL {
  url.search = url.search.replaceAll('+', '%20');
  return url;
}

/** Third-party texts by column; numbers as written, lists joined, booleans as `✓` and `✗`. Empty values and placeholders are left out. */
export interface ProviderRow {
  columns: Record<string, string>;
  /** Markdown links, unchanged. */
  actions: string[];
}

const PLACEHOLDER = /^(tbd|null|undefined|custom|n\/?a|none|-|–|—)?$/i;

export interface Page {
  rows: unknown[];
  total: number | null;
}

/** Keys under which lists are found; `result` and `data` may themselves wrap one. */
const LISTS = ['result', 'rows', 'data', 'items', 'results'];
/** In a response with rows, a list of categories only means that the requested one does not exist. */
const CATEGORY_LISTS = ['availableCategories', 'categories', ...LISTS.toReversed()];

function readCategories(json: unknown): string[] {
  const list = (findList(json, null) ?? []).filter((entry) => !isObject(entry) || entry.active !== false);
  const keys = list.map((entry) => (isObject(entry) ? (entry.key ?? entry.category ?? entry.id ?? entry.slug) : entry));
  return [...new Set(keys.filter((key): key is string => typeof key === 'string' && /^[\w-]{1,50}$/.test(key)))];
}

function readPage(response: HttpResult, category: string): Page | UpstreamFailure {
  const read = jsonOf(response);
  if (read.status !== 'ok') return read;
  const rows = findList(read.json, category);
  return rows ? { rows, total: findTotal(read.json) } : { status: 'unreadable' };
}

const MAX_DEPTH = 4;

function findList(json: unknown, category: string | null, depth = 0): unknown[] | null {
  if (Array.isArray(json)) return json;
  if (!isObject(json) || depth > MAX_DEPTH) return null;
  // A category may have the name of an envelope. Searching it twice at each depth would take forever.
  const keys = category === null ? CATEGORY_LISTS : new Set([category, ...LISTS]);
  for (const key of keys) {
    const found = Object.hasOwn(json, key) ? findList(json[key], category, depth + 1) : null;
    if (found) return found;
  }
  return null;
}

function findTotal(json: unknown, depth = 0): number | null {
  if (!isObject(json) || depth > MAX_DEPTH) return null;
  for (const value of [json.total, json.totalCount, json.totalRows]) {
    if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  }
  for (const inner of [json.pagination, json.meta, json.result, json.data]) {
    const found = findTotal(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function toRow(row: unknown): ProviderRow | null {
  if (!isObject(row)) return null;
  const columns: Record<string, string> = {};
  for (const [name, value] of Object.entries(row)) {
    const shown = asText(value);
    if (name !== 'actionButtons' && shown !== null) columns[name] = shown;
  }
  const { actionButtons } = row;
  const actions = Array.isArray(actionButtons) ? actionButtons : [actionButtons];
  return { columns, actions: actions.filter((action): action is string => typeof action === 'string') };
}

function asText(value: unknown): string | null {
  if (typeof value === 'boolean') return value ? '✓' : '✗';
  if (Array.isArray(value)) {
    const parts = value.flatMap((entry) => asText(entry) ?? []);
    return parts.length > 0 ? parts.join(', ').slice(0, 1000) : null;
  }
  if (typeof value !== 'string' || PLACEHOLDER.test(value.trim())) return null;
  return value.trim().slice(0, 1000);
}
