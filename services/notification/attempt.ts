import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { createAnswers } from './answers.ts';
import type { Breaker } from './breaker.ts';
import type { Commits } from './commits.ts';
import type { createPost } from './post.ts';
import type { DeliveryProgress, DeliveryRef } from './types.ts';
import type { Turn } from './webhook-turns.ts';

/** Dependencies of {@link createAttempt}. */
interface AttemptParts {
  clock: Clock;
  log: Logger;
  breaker: Breaker;
  answers: ReturnType<typeof createAnswers>;
  post: ReturnType<typeof createPost>;
  commit: Commits['commit'];
  onProgress: (progress: DeliveryProgress) => void;
  /** Called with the HTTP status, or `none`. */
  onAttempt(result: string): void;
  /** The result could not be stored. */
  onStoreError(error: unknown): void;
}

/** Returns a function that makes one attempt: posts the delivery, stores what comes of it, and reports both. */
export function createAttempt({ clock, log, breaker, answers, post, commit, ...on }: AttemptParts) {
  return async ({ delivery, origin }: Turn): Promise<void> => {
    const { id: deliveryId, webhookId, projectId, txHash, blockNumber } = delivery;
    const ref = (): DeliveryRef => ({ deliveryId, webhookId, projectId, txHash, blockNumber, at: clock.now() });
    const number = delivery.attempts + 1;
    on.onProgress({ ...ref(), type: 'attempted', attempt: number });
    const answer = await post(delivery, number);
    breaker.end(origin, answer.isTimedOut === true);
    on.onAttempt(answer.status === null ? 'none' : String(answer.status));
    const { isTimedOut: _, ...reply } = answer;
    log.info({ deliveryId, webhookId, txHash, attempt: number, ...reply }, 'delivery attempted');
    try {
      const outcome = await commit(() => answers.apply(delivery, number, answer));
      on.onProgress({ ...ref(), type: 'answered', attempt: number, ...reply });
      on.onProgress({ ...ref(), ...outcome });
    } catch (error) {
      on.onStoreError(error);
    }
  };
}
