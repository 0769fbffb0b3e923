/** The bot's last 10,000 requests, without secrets, and their counters. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../src/domain/clock.ts';
import type { RequestRecord } from './control.ts';
import type { Events } from './events.ts';

const KEPT = 10_000;

const shorten = (path: string): string =>
  path.replace(/^(\/(?:webhooks|interactions)\/\d+\/)([^/?]{8})[^/?]*/, '$1$2…');

export class RequestLog {
  rateLimited = 0;
  invalid = 0;
  refusedBodies = 0;
  total = 0;
  private readonly clock: Clock;
  private readonly events: Events;
  private records: RequestRecord[] = [];

  constructor(clock: Clock, events: Events) {
    this.clock = clock;
    this.events = events;
  }

  begin(method: string, path: string, headers: IncomingHttpHeaders): RequestRecord {
    this.total += 1;
    const shown: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers))
      shown[name] = name === 'authorization' ? 'Bot …' : String(value);
    const record: RequestRecord = {
      number: this.total,
      at: new Date(this.clock.now()).toISOString(),
      method,
      path: shorten(path),
      headers: shown,
      status: null,
      code: null,
      fault: null,
      ms: null,
    };
    this.records.push(record);
    if (this.records.length > 2 * KEPT) this.records = this.records.slice(-KEPT);
    return record;
  }

  /** Records the response. A null status means that there was none. */
  end(record: RequestRecord, status: number | null, code: number | null): void {
    record.status = status;
    record.code = code;
    record.ms = this.clock.now() - Date.parse(record.at);
    if (status === 429) this.rateLimited += 1;
    if (status === 401 || status === 403 || status === 429) this.invalid += 1;
    if (code === 50035 || code === 50006) this.refusedBodies += 1;
    this.events.emit({ type: 'request', request: record });
  }

  /** Returns the requests after this number, oldest first. */
  list(after = 0): RequestRecord[] {
    return this.records.slice(-KEPT).filter(({ number }) => number > after);
  }

  forget(): void {
    this.records = [];
    this.total = 0;
    this.rateLimited = 0;
    this.invalid = 0;
    this.refusedBodies = 0;
  }
}
