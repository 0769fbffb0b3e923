import { createHash } from 'node:crypto';
import { type Clock, SECOND } from '../../src/domain/clock.ts';

/** At most `limit` requests in `perMs` milliseconds from the first one. */
export interface Limit {
  limit: number;
  perMs: number;
}

/** Those left out are Discord's. */
export interface LimitTable {
  /** All requests with the bot's token. Those of interactions do not count. */
  global: Limit;
  /** Per channel: new messages. */
  messages: Limit;
  /** Per channel: edits of messages. */
  edits: Limit;
  /** Replies and followups, per interaction. */
  replies: Limit;
  /** Any other route, per channel or server. */
  other: Limit;
}

const DISCORD: LimitTable = {
  global: { limit: 50, perMs: SECOND },
  messages: { limit: 5, perMs: 5 * SECOND },
  edits: { limit: 5, perMs: 5 * SECOND },
  replies: { limit: 5, perMs: 2 * SECOND },
  other: { limit: 50, perMs: 5 * SECOND },
};

interface Verdict {
  headers: Record<string, string>;
  /** null when the request is allowed. */
  refused: { retryAfterMs: number; global: boolean } | null;
}

export type Limits = ReturnType<typeof createLimits>;

export function createLimits(clock: Clock, limits: 'discord' | 'none' | Partial<LimitTable>) {
  const table: LimitTable | null =
    limits === 'none' ? null : limits === 'discord' ? DISCORD : { ...DISCORD, ...limits };
  const windows = new Map<string, { start: number; used: number }>();

  /**
   * `route` has its method, `major` is the id of its channel, server or interaction; `bot`: it carries the bot's token.
   */
  function take(route: string, major: string, bot: boolean): Verdict {
    if (!table) return { headers: {}, refused: null };
    const ahead = bot ? use('global', table.global).wait : 0;
    if (ahead > 0)
      return {
        headers: { 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' },
        refused: { retryAfterMs: ahead, global: true },
      };
    if (route.includes('/callback')) return { headers: {}, refused: null };
    const limit = limitOf(route);
    const { wait, window } = use(`${route} ${major}`, limit);
    const end = window.start + limit.perMs;
    const headers: Record<string, string> = {
      'x-ratelimit-limit': String(limit.limit),
      'x-ratelimit-remaining': String(Math.max(0, limit.limit - window.used)),
      'x-ratelimit-reset': (end / 1_000).toFixed(3),
      'x-ratelimit-reset-after': ((end - clock.now()) / 1_000).toFixed(3),
      'x-ratelimit-bucket': createHash('md5').update(route).digest('hex'),
    };
    if (wait === 0) return { headers, refused: null };
    return { headers: { ...headers, 'x-ratelimit-scope': 'user' }, refused: { retryAfterMs: wait, global: false } };
  }

  function limitOf(route: string): Limit {
    if (route === 'POST /channels/:channel/messages') return table!.messages;
    if (route === 'PATCH /channels/:channel/messages/:message') return table!.edits;
    return route.includes('/webhooks/') ? table!.replies : table!.other;
  }

  function use(key: string, { limit, perMs }: Limit) {
    const now = clock.now();
    let window = windows.get(key);
    if (!window || now >= window.start + perMs) {
      if (windows.size > 10_000) windows.clear();
      window = { start: now, used: 0 };
      windows.set(key, window);
    }
    if (window.used >= limit) return { wait: window.start + perMs - now, window };
    window.used++;
    return { wait: 0, window };
  }

  return { take };
}
