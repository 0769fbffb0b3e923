import { connect } from 'node:net';
import { type Answer, startDeliveries } from '../../test/crash/deliveries.ts';
import type { Watched } from '../../test/crash/watched.ts';
import type { Tally } from './tally.ts';
import { nextTransfer } from './transfers.ts';

/** The waits before retries: the first three of the real schedule. */
const RETRIES_MS = [15_000, 60_000, 600_000];
const REPEATS = { share: 0.05, afterMs: 20_000 };
const TWIN_MS = 800;
const TICK_MS = 10;
/** Shares of all requests. */
const BROKEN_OFF = 0.01;
const UNREADABLE = 0.002;
const WRONG_TOKEN = 0.002;

/** The results of the requests. */
export interface Sent {
  transfers: number;
  /** Responses by status; `none`: timeouts, and requests that the sender aborted. */
  answers: Record<Answer, number>;
  unreadable: number;
}

/** Sends transfers at a constant rate, and repeats every body until it gets a 200. */
export function startSender(url: string, watched: readonly Watched[], perSecond: number, tally: Tally) {
  const sent: Sent = { transfers: 0, answers: { 200: 0, 503: 0, none: 0 }, unreadable: 0 };
  const { deliver, later, post, unanswered, close } = startDeliveries({
    url,
    retriesMs: RETRIES_MS,
    repeats: REPEATS,
    async send(body, posted) {
      const isBrokenOff = Math.random() < BROKEN_OFF;
      tally.request(body);
      const answer = isBrokenOff ? await breakOff(url, body) : await posted();
      if (isBrokenOff) tally.brokeOff(body);
      sent.answers[answer] = (sent.answers[answer] ?? 0) + 1;
      return answer;
    },
  });

  function sendNext(): void {
    const transfer = nextTransfer(sent.transfers++, watched);
    const [first, ...twins] = transfer.bodies;
    const onAnswered = () => tally.acknowledge(transfer.hash);
    tally.begin(transfer);
    deliver(first!, onAnswered);
    for (const twin of twins) later(Math.random() * TWIN_MS, () => deliver(twin, onAnswered));
    if (Math.random() < UNREADABLE) {
      sent.unreadable++;
      deliver(first!.slice(0, -20), () => undefined);
    }
    if (Math.random() < WRONG_TOKEN) void post(url.replace(/[^/]+$/, 'another-token'), first!);
  }

  const began = performance.now();
  const pulse = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    while (sent.transfers < due) sendNext();
  }, TICK_MS);

  return {
    sent,
    /** Bodies without a 200 yet. */
    unanswered,
    /** Sends no new transfers; unacknowledged ones are still repeated. */
    calm: () => clearInterval(pulse),
    close,
  };
}

/** Aborts a request: in the middle of its body, or after it was sent completely. */
function breakOff(url: string, body: string): Promise<'none'> {
  const { hostname, port, pathname } = new URL(url);
  const bytes = Buffer.from(body);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`;
  const part = Math.random() < 0.5 ? bytes.length : Math.floor(bytes.length / 2);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}content-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes.subarray(0, part), () => socket.destroy());
    });
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve('none'));
  });
}
