import type { Clock } from '../../src/domain/clock.ts';
import type { TokenFacts } from '../chain/token.ts';
import type { Deliverer } from './deliverer.ts';
import { type EventStyle, fromDraft } from './event.ts';
import type { ScannerStatus } from './scanner.ts';
import type { NotificationStore } from './store/index.ts';
import type { KeptDelivery } from './store/new-deliveries.ts';
import type { CompletedDelivery } from './store/waiting.ts';
import type { DeliveryProgress } from './types.ts';

/** Passes new and completed deliveries to the deliverer and reports them. */
export function createHandOver(options: {
  store: NotificationStore;
  clock: Clock;
  style: EventStyle;
  deliverer: Deliverer;
  report(progress: DeliveryProgress): void;
}) {
  const { store, clock, style, deliverer, report } = options;
  const matched = ({ id: deliveryId, webhookId, projectId, txHash, blockNumber, body }: CompletedDelivery): void =>
    report({ type: 'matched', deliveryId, webhookId, projectId, txHash, blockNumber, body, at: clock.now() });
  return {
    /** Takes deliveries that are new on disk. */
    deliveries(deliveries: readonly KeptDelivery[]): void {
      for (const { body, ...delivery } of deliveries) if (body !== null) matched({ ...delivery, body });
      deliverer.expect(deliveries.filter(({ state }) => state === 'pending'));
    },
    /** Completes the deliveries that wait for a token. */
    async token(token: string, facts: TokenFacts, { head, next }: ScannerStatus): Promise<void> {
      const completed = await store.deliveries.name(token, (draft) => fromDraft(draft, facts, style));
      for (const delivery of completed) matched(delivery);
      const heights = { head: head ?? (next ?? 0) - 1, safe: null, finalized: null };
      for (const webhookId of store.deliveries.release(heights, clock.now())) {
        deliverer.expect([{ webhookId, dueAt: clock.now() }]);
      }
    },
  };
}
