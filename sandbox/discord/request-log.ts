/** The last 10,000 requests, without secrets. */

import type { Base } from './base.ts';
import type { RequestRecord } from './control.ts';

const MAX_RECORDS = 10_000;

const shorten = (path: string): string =>
  path.replace(/^(\/(?:webhooks|interactions)\/\d+\/)([^/?]{8})[^/?]*/, '$1$2…');

export type RequestLog = ReturnType<typeof createRequestLog>;

export function createRequestLog({ clock, events }: Base) {
  const counts = { total: 0, rateLimited: 0, invalid: 0, refusedBodies: 0 };
  let records: RequestRecord[] = [];

  function begin(method: string, path: string): RequestRecord {
    counts.total++;
    const record: RequestRecord = {
      number: counts.total,
      at: new Date(clock.now()).toISOString(),
      method,
      path: shorten(path),
      status: null,
      code: null,
      fault: null,
      ms: null,
    };
    records.push(record);
    if (records.length > 2 * MAX_RECORDS) records = records.slice(-MAX_RECORDS);
    return record;
  }

  /** A null status means that there was no response. */
  function end(record: RequestRecord, status: number | null, code: number | null): void {
    record.status = status;
    record.code = code;
    record.ms = clock.now() - Date.parse(record.at);
    if (status === 429) counts.rateLimited++;
    if (status === 401 || status === 403 || status === 429) counts.invalid++;
    if (code === 50035 || code === 50006) counts.refusedBodies++;
    events.emit({ type: 'request', request: record });
  }

  function list(after = 0): RequestRecord[] {
    return records.slice(-MAX_RECORDS).filter(({ number }) => number > after);
  }

  function forget(): void {
    records = [];
    Object.assign(counts, { total: 0, rateLimited: 0, invalid: 0, refusedBodies: 0 });
  }

  return { counts, begin, end, list, forget };
}
