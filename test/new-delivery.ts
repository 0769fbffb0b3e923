import type { NewDelivery } from '../src/domain/inbox.ts';

export const newDelivery = (body: string | Uint8Array, changed: Partial<NewDelivery> = {}): NewDelivery => ({
  scope: 0,
  receivedAt: 0,
  body: Buffer.from(body),
  identity: null,
  run: 'a run',
  runMs: 0,
  ...changed,
});
