import { Agent, request } from 'undici';
import { SECOND } from '../../src/domain/clock.ts';

const PATIENCE_MS = 3 * SECOND;

/**
 * The earliest repeat of a delivery that a running process may have stored. One that comes sooner counts as a second
 * transfer.
 */
export const LOST_RESPONSE_MS = 15 * SECOND;

export type Answer = number | 'none';

interface Habits {
  url: string | (() => string);
  /** Its waits before it comes again; the last one repeats. */
  retriesMs: readonly number[];
  /** Its waits after a response, or none in time, if they differ from those after a broken or refused connection. */
  laterMs?: readonly number[];
  /** The share of bodies that come again `afterMs` after their 200, as if that had been lost on its way. */
  repeats: { share: number; afterMs: number };
  send?(body: string, post: () => Promise<Answer>): Promise<Answer>;
}

/** Errors of a request when nobody listens, or the listener is gone. */
const BROKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']);
const waitOf = (waits: readonly number[], retry: number): number => waits[Math.min(retry, waits.length - 1)]!;

export function startDeliveries({ url, retriesMs, laterMs = retriesMs, repeats, send = (_, post) => post() }: Habits) {
  const agent = new Agent({ connections: 32, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  /** Bodies whose last try broke off, or got no response in time. */
  const broken = new Set<string>();
  const late = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let unanswered = 0;
  let closed = false;

  function later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, ms);
    timers.add(timer);
  }

  async function post(to: string, body: string): Promise<Answer> {
    const begun = performance.now();
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(to, { method: 'POST', headers, body, dispatcher: agent });
      await answer.body.dump();
      // It may have been stored after the receiver gave up.
      if (performance.now() - begun > SECOND) late.add(body);
      return answer.statusCode;
    } catch (error) {
      const missed = BROKEN.has((error as { code?: string }).code ?? '') ? broken : late;
      missed.add(body);
      return 'none';
    }
  }

  async function attempt(body: string, retry: number, onAnswered: () => void): Promise<void> {
    if (closed) return;
    if ((await send(body, () => post(typeof url === 'string' ? url : url(), body))) === 200) return onAnswered();
    const soonest = late.delete(body) ? LOST_RESPONSE_MS : 0;
    const wait = waitOf(broken.delete(body) ? retriesMs : laterMs, retry);
    later(Math.max(soonest, wait), () => void attempt(body, retry + 1, onAnswered));
  }

  return {
    later,
    post,
    deliver(body: string, onAnswered: () => void): void {
      unanswered++;
      void attempt(body, 0, () => {
        unanswered--;
        onAnswered();
        if (Math.random() < repeats.share) later(repeats.afterMs, () => void attempt(body, 0, () => undefined));
      });
    },
    unanswered: () => unanswered,
    async close(): Promise<void> {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      await agent.destroy();
    },
  };
}
