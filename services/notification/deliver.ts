import type { Logger } from 'pino';
import { Agent, request } from 'undici';
import type { Clock } from '../clock.ts';
import type { Delivery, NotificationStore } from './store.ts';
import type { DeliveryProgress, DeliveryRef, Faults } from './types.ts';

/** How long after a failed attempt the next one is made, in milliseconds; after the last there is none. */
const retryDelays: readonly number[] = [15_000, 60_000, 600_000, 3_600_000, 86_400_000, 86_400_000];

const timeoutMs = 3_000;

/** How long nothing is sent after the database failed, in milliseconds. */
const restMs = 5_000;

/**
 * How long in one go a receiver is tried in vain before what it was owed at the beginning is given up, in milliseconds:
 * twice the schedule. Only then are there still some whose turn never came, as each attempt waits for an answer.
 */
const silenceMs = 2 * retryDelays.reduce((sum, delay) => sum + delay);

interface DelivererParts {
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  /** A number in [0, 1). */
  random: () => number;
  faults: () => Faults;
  onProgress: (progress: DeliveryProgress) => void;
}

/** Since when every attempt failed, and the newest delivery of that moment. */
interface Silence {
  since: number;
  newest: number;
}

/** Sends what is due: one by one to each webhook, newest first, all webhooks at the same time. */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #agent = new Agent();
  readonly #sending = new Map<string, Promise<void>>();
  #cancel = () => {};
  #closing = false;
  #restUntil = 0;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
  }

  /** Begins. @throws when the database cannot be read: then the services had better not start. */
  start(): void {
    this.#look(this.#parts.clock.now());
  }

  /** Looks for what is due now, and sets the timer for what is due later. */
  nudge(): void {
    const { clock } = this.#parts;
    this.#cancel();
    if (this.#closing || this.#parts.faults().paused) return;
    const now = clock.now();
    if (now >= this.#restUntil) {
      try {
        this.#look(now);
        return;
      } catch (error) {
        this.#rest(error);
      }
    }
    this.#cancel = clock.setTimer(this.#restUntil - now, () => this.nudge());
  }

  #look(now: number): void {
    const { store, clock } = this.#parts;
    for (const webhookId of store.webhooksWithDue(now)) {
      if (!this.#sending.has(webhookId)) this.#sending.set(webhookId, this.#drain(webhookId));
    }
    const dueAt = store.nextDueAt(now);
    this.#cancel = dueAt === undefined ? () => {} : clock.setTimer(dueAt - now, () => this.nudge());
  }

  /** Finishes the attempts at hand; what is left stays on disk. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancel();
    await Promise.all(this.#sending.values());
    await this.#agent.destroy();
  }

  async #drain(webhookId: string): Promise<void> {
    let silence: Silence | undefined;
    try {
      for (let delivery = this.#next(webhookId); delivery !== undefined; delivery = this.#next(webhookId)) {
        const isDelivered = await this.#attempt(delivery);
        silence = isDelivered ? undefined : this.#silenceOf(webhookId, silence);
      }
    } catch (error) {
      this.#rest(error);
    }
    // Never in the same turn as the call: the caller notes this promise first.
    await Promise.resolve();
    this.#sending.delete(webhookId);
    this.nudge();
  }

  #rest(error: unknown): void {
    const { clock, log } = this.#parts;
    log.error({ err: error }, `Deliveries cannot be read or kept; trying again in ${restMs} ms`);
    this.#restUntil = clock.now() + restMs;
  }

  #next(webhookId: string): Delivery | undefined {
    const { store, clock, faults, random } = this.#parts;
    const { paused, reorder } = faults();
    if (this.#closing || paused) return undefined;
    const skip = reorder ? Math.floor(random() * store.countDue(webhookId, clock.now())) : 0;
    return store.nextDue(webhookId, clock.now(), skip);
  }

  /** Answers whether it succeeded. */
  async #attempt(delivery: Delivery): Promise<boolean> {
    const { clock, log } = this.#parts;
    const { id: deliveryId, webhookId, projectId, txHash, blockNumber } = delivery;
    const ref = (): DeliveryRef => ({ deliveryId, webhookId, projectId, txHash, blockNumber, at: clock.now() });
    const attempt = delivery.attempts + 1;
    this.#parts.onProgress({ ...ref(), type: 'attempted', attempt });
    const answer = await this.#post(delivery);
    log.info({ deliveryId, webhookId, txHash, attempt, ...answer }, 'delivery attempted');
    const isDelivered = answer.status === 200;
    const settle = this.#settle(delivery, attempt, isDelivered);
    this.#parts.onProgress({ ...ref(), type: 'answered', attempt, ...answer });
    this.#parts.onProgress({ ...ref(), ...settle });
    return isDelivered;
  }

  /** Gives up what could never be sent in time: else it grew for as long as the receiver lets every attempt wait. */
  #silenceOf(webhookId: string, silence: Silence | undefined): Silence {
    const { store, clock, log } = this.#parts;
    if (silence !== undefined && clock.now() - silence.since < silenceMs) return silence;
    const count = silence === undefined ? 0 : store.giveUp(webhookId, silence.newest);
    if (count > 0) log.error({ webhookId, count }, 'The receiver answers nothing: its oldest deliveries are given up');
    return { since: clock.now(), newest: store.newestDelivery() };
  }

  /** Keeps what comes after an answer: the end, a repetition or a retry. */
  #settle(delivery: Delivery, attempt: number, success: boolean) {
    const { store, clock, faults } = this.#parts;
    const { id, repeats } = delivery;
    const { repeat, repeatAfterMs } = faults();
    if (success && repeats < repeat) {
      const dueAt = clock.now() + repeatAfterMs;
      store.postpone(id, { attempts: 0, repeats: repeats + 1, dueAt });
      return { type: 'scheduled' as const, reason: 'repeat' as const, dueAt };
    }
    const delay = retryDelays[attempt - 1];
    if (success || delay === undefined) {
      store.deleteDelivery(id);
      return { type: 'ended' as const, outcome: success ? ('delivered' as const) : ('exhausted' as const) };
    }
    const dueAt = clock.now() + delay;
    store.postpone(id, { attempts: attempt, repeats, dueAt });
    return { type: 'scheduled' as const, reason: 'retry' as const, dueAt };
  }

  async #post({ url, body }: Delivery): Promise<{ status: number | null; error?: string }> {
    const timeout = new AbortController();
    const cancel = this.#parts.clock.setTimer(timeoutMs, () => timeout.abort());
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...credentialsOf(url) },
        body,
        dispatcher: this.#agent,
        signal: timeout.signal,
      });
      await response.body.dump().catch(() => undefined); // The status alone counts.
      return { status: response.statusCode };
    } catch (error) {
      if (timeout.signal.aborted) return { status: null, error: `no answer within ${timeoutMs} ms` };
      const { code, message } = error as { code?: string; message: string };
      return { status: null, error: code ?? message };
    } finally {
      cancel();
    }
  }
}

/** `https://user:password@…` as the header that it stands for. */
function credentialsOf(url: string): { authorization?: string } {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}
