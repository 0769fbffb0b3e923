import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { nextTransfer, type Transfer, type Watched } from './body.ts';

/** The sender's own patience, and the waits before it comes again: the first three of the real schedule. */
const PATIENCE_MS = 3_000;
const RETRIES_MS = [15_000, 60_000, 600_000];
/** A delivery that was answered comes again so much later, when its answer got lost on the way. */
const REPEAT_MS = 16_000;
const TWIN_MS = 800;
const TICK_MS = 10;
/** Shares of all requests. */
const BROKEN_OFF = 0.01;
const REPEATED = 0.05;
const UNREADABLE = 0.002;
const WRONG_TOKEN = 0.002;

/** What came of the requests. */
export interface Sent {
  transfers: number;
  /** Bodies that were answered with 200, repeats included. */
  answered: number;
  /** Answers by their status; `none`: time-outs, and what the sender broke off itself. */
  answers: Record<string, number>;
  unreadable: number;
}

/** Tells of transfers at a constant rate, and repeats every body until it is answered with 200. */
export function startSender({
  url,
  watched,
  perSecond,
  onBegin,
  onAnswered,
}: {
  url: string;
  watched: readonly Watched[];
  perSecond: number;
  /** Before the first byte of a transfer's first body. */
  onBegin(transfer: Transfer): void;
  /** Once one of its bodies was answered with 200. */
  onAnswered(hash: string): void;
}) {
  const agent = new Agent({ connections: 32, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  const sent: Sent = { transfers: 0, answered: 0, answers: {}, unreadable: 0 };
  const timers = new Set<NodeJS.Timeout>();
  let unanswered = 0;
  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };

  async function post(to: string, body: string): Promise<number | 'none'> {
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(to, { method: 'POST', headers, body, dispatcher: agent });
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      return 'none';
    }
  }

  async function deliver(body: string, attempt: number, done: () => void): Promise<void> {
    const answer = Math.random() < BROKEN_OFF ? await breakOff(url, body) : await post(url, body);
    sent.answers[answer] = (sent.answers[answer] ?? 0) + 1;
    if (answer !== 200) {
      later(RETRIES_MS[Math.min(attempt, RETRIES_MS.length - 1)]!, () => void deliver(body, attempt + 1, done));
      return;
    }
    sent.answered++;
    done();
  }

  function tell(body: string, onDone: () => void): void {
    unanswered++;
    void deliver(body, 0, () => {
      unanswered--;
      onDone();
      if (Math.random() < REPEATED)
        later(REPEAT_MS * (1 + Math.random()), () => void deliver(body, 0, () => undefined));
    });
  }

  function transfer(): void {
    const made = nextTransfer(sent.transfers++, watched);
    const [first, ...twins] = made.bodies;
    onBegin(made);
    tell(first!, () => onAnswered(made.hash));
    for (const twin of twins) later(Math.random() * TWIN_MS, () => tell(twin, () => onAnswered(made.hash)));
    if (Math.random() < UNREADABLE) {
      sent.unreadable++;
      tell(first!.slice(0, -20), () => undefined);
    }
    if (Math.random() < WRONG_TOKEN) void post(url.replace(/[^/]+$/, 'another-token'), first!);
  }

  const began = performance.now();
  const pulse = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    while (sent.transfers < due) transfer();
  }, TICK_MS);

  return {
    sent,
    /** Bodies without a 200 yet. */
    unanswered: () => unanswered,
    /** No new transfers; what was begun is still repeated until it is answered. */
    calm: () => clearInterval(pulse),
    async close(): Promise<void> {
      clearInterval(pulse);
      for (const timer of timers) clearTimeout(timer);
      await agent.destroy();
    },
  };
}

/** Breaks a request off: in the middle of its body, or once all of it is on its way. */
function breakOff(url: string, body: string): Promise<'none'> {
  const { hostname, port, pathname } = new URL(url);
  const bytes = Buffer.from(body);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${hostname}`,
    'content-type: application/json',
    `content-length: ${bytes.length}`,
  ];
  const part = Math.random() < 0.5 ? bytes.length : Math.floor(bytes.length / 2);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(bytes.subarray(0, part), () => socket.destroy());
    });
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve('none'));
  });
}
