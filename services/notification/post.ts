import { type Dispatcher, request } from 'undici';
import { type Clock, SECOND } from '../../src/domain/clock.ts';
import { authorizationOf } from '../credentials.ts';
import { identityHeaders } from './sign.ts';
import type { NotificationStore } from './store/index.ts';
import type { Delivery } from './store/outbox.ts';

const TIMEOUT_MS = 3 * SECOND;

/** A receiver's response, or why there is none. */
export interface PostResult {
  /** null without a response; `error` is then the reason. */
  status: number | null;
  error?: string;
  isTimedOut?: true;
}

/** Dependencies of {@link createPost}. */
interface PostParts {
  store: NotificationStore;
  clock: Clock;
  secretsOf: (projectId: string) => readonly string[];
}

/** Returns the function that makes one attempt of a delivery. It never throws. */
export function createPost({ store, clock, secretsOf }: PostParts, agent: Dispatcher) {
  return async (delivery: Delivery, number: number): Promise<PostResult> => {
    const { url, body } = delivery;
    const timeout = new AbortController();
    const stopTimer = clock.after(TIMEOUT_MS, () => timeout.abort());
    const identity = identityHeaders({
      delivery,
      instance: store.instance,
      chainId: store.chain.state()?.chainId ?? null,
      attempt: number,
      now: clock.now(),
      secrets: secretsOf(delivery.projectId),
    });
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...identity, ...authorizationOf(new URL(url)) },
        body,
        dispatcher: agent,
        signal: timeout.signal,
      });
      await response.body.dump().catch(() => undefined); // The status alone counts.
      return { status: response.statusCode };
    } catch (error) {
      if (timeout.signal.aborted) {
        return { status: null, error: `no response within ${TIMEOUT_MS} ms`, isTimedOut: true };
      }
      const { code, message } = error as { code?: string; message: string };
      return { status: null, error: code ?? message };
    } finally {
      stopTimer();
    }
  };
}
