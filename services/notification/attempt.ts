import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { Breaker } from './breaker.ts';
import type { createOutcomes } from './outcomes.ts';
import type { createPost } from './post.ts';
import type { NotificationStore } from './store/index.ts';
import type { DeliveryProgress, DeliveryRef } from './types.ts';
import type { NextDelivery } from './webhook-order.ts';

/** Dependencies of {@link createAttempt}. */
interface AttemptParts {
  store: Pick<NotificationStore, 'commit'>;
  clock: Clock;
  log: Logger;
  breaker: Breaker;
  outcomes: ReturnType<typeof createOutcomes>;
  post: ReturnType<typeof createPost>;
  onProgress: (progress: DeliveryProgress) => void;
  /** Called with the HTTP status, or `none`. */
  onAttempt(result: string): void;
  /** Called when the result could not be stored. */
  onStoreError(error: unknown): void;
}

/** Returns the function that makes one attempt: it posts the delivery, stores the outcome, and reports both. */
export function createAttempt({ store, clock, log, breaker, outcomes, post, ...on }: AttemptParts) {
  return async ({ delivery, origin }: NextDelivery): Promise<void> => {
    const { id: deliveryId, webhookId, projectId, txHash, blockNumber } = delivery;
    const ref = (): DeliveryRef => ({ deliveryId, webhookId, projectId, txHash, blockNumber, at: clock.now() });
    const number = delivery.attempts + 1;
    on.onProgress({ ...ref(), type: 'attempted', attempt: number });
    const result = await post(delivery, number);
    breaker.end(origin, result.isTimedOut === true);
    on.onAttempt(result.status === null ? 'none' : String(result.status));
    const { isTimedOut: _, ...reply } = result;
    log.info({ deliveryId, webhookId, txHash, attempt: number, ...reply }, 'delivery attempted');
    try {
      const outcome = await store.commit(() => outcomes.apply(delivery, number, result));
      on.onProgress({ ...ref(), type: 'answered', attempt: number, ...reply });
      on.onProgress({ ...ref(), ...outcome });
    } catch (error) {
      on.onStoreError(error);
    }
  };
}
