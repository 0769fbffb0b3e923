import type { AddressText } from './address.ts';
import type { SubscriptionChange, SubscriptionImport } from './subscription.ts';

/** Addresses to remove from a webhook. */
export interface WebhookRemoval {
  webhook: string;
  addresses: AddressText[];
  /** The scope of the webhook's events; an earlier version did not store it. */
  scope?: number;
}

/** What a question is about, by the action that its button confirms. */
export interface Questions {
  'webhook.remove': WebhookRemoval;
  /** Removes these subscriptions too, whose addresses the webhook no longer has. */
  'webhook.forget': WebhookRemoval & { silent: number[] };
  'webhook.restore': WebhookRemoval;
  'subscription.import': Pick<SubscriptionImport, 'added' | 'changed' | 'labels'>;
  'subscription.panel': { id: number; change: SubscriptionChange };
}

/** An action that has to be confirmed. */
export type Action = keyof Questions;

/** A question, such as "Remove these?", that one person may confirm. */
export interface NewConfirmation<Asked extends Action = Action> {
  guildId: string;
  userId: string;
  action: Asked;
  /** It is returned as it is after JSON: without fields that are `undefined`. */
  detail: Questions[Asked];
  askedAt: number;
}

/** A press on a question's button. */
export interface Confirmation<Asked extends Action = Action>
  extends Pick<NewConfirmation<Asked>, 'guildId' | 'userId' | 'action'> {
  id: number;
  /** Older questions are no longer valid. */
  notBefore: number;
}
