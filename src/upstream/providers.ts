import type { UpstreamFailure } from '../domain/upstream.ts';
import { type HttpResult, jsonOf } from './http.ts';

/** Third-party texts by column; numbers as written, lists joined, booleans as `✓` and `✗`. Empty values and placeholders are left out. */
export interface ProviderRow {
  columns: Record<string, string>;
  /** Markdown links, unchanged. */
  actions: string[];
}

const PLACEHOLDER = /^(tbd|null|undefined|custom|n\/?a|none|-|–|—)?$/i;

/** One page of rows; `total`: how many rows there are on all pages, if the service reports it. */
export interface Page {
  rows: unknown[];
  total: number | null;
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keys under which lists are found; `result` and `data` may themselves wrap one. */
const LISTS = ['result', 'rows', 'data', 'items', 'results'];
/**
 * Keys of categories. In a response with rows, a list of categories only means that the requested one does not exist.
 */
const CATEGORY_LISTS = ['availableCategories', 'categories', ...LISTS.toReversed()];

/** The keys of the categories in a response; empty: there are none. */
export function readCategories(json: unknown): string[] {
  const list = (findList(json, null) ?? []).filter((entry) => !isFields(entry) || entry.active !== false);
  const keys = list.map((entry) => (isFields(entry) ? (entry.key ?? entry.category ?? entry.id ?? entry.slug) : entry));
  return [...new Set(keys.filter((key): key is string => typeof key === 'string' && /^[\w-]{1,50}$/.test(key)))];
}

export function readPage(response: HttpResult, category: string): Page | UpstreamFailure {
  const read = jsonOf(response);
  if (read.status !== 'ok') return read;
  const rows = findList(read.json, category);
  return rows ? { rows, total: findTotal(read.json) } : { status: 'unreadable' };
}

const MAX_DEPTH = 4;

/** The list in any known kind of envelope. */
function findList(json: unknown, category: string | null, depth = 0): unknown[] | null {
  if (Array.isArray(json)) return json;
  if (!isFields(json) || depth > MAX_DEPTH) return null;
  // A category may have the name of an envelope. Searching it twice at each depth would take forever.
  const keys = category === null ? CATEGORY_LISTS : new Set([category, ...LISTS]);
  for (const key of keys) {
    const found = Object.hasOwn(json, key) ? findList(json[key], category, depth + 1) : null;
    if (found) return found;
  }
  return null;
}

function findTotal(json: unknown, depth = 0): number | null {
  if (!isFields(json) || depth > MAX_DEPTH) return null;
  for (const value of [json.total, json.totalCount, json.totalRows]) {
    if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  }
  for (const inner of [json.pagination, json.meta, json.result, json.data]) {
    const found = findTotal(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** A row as texts; null: not a row. */
export function toRow(row: unknown): ProviderRow | null {
  if (!isFields(row)) return null;
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
