import { expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { chainChecksContract } from './chain-checks.ts';
import { channelsContract } from './channels.ts';
import { deadLettersContract } from './dead-letters.ts';
import { editsContract } from './edits.ts';
import { erasureContract } from './erasure.ts';
import { NOW, routed, storedTransfer } from './given.ts';
import { guildsContract } from './guilds.ts';
import { historyContract } from './history.ts';
import { inboxContract } from './inbox.ts';
import { knowledgeContract } from './knowledge.ts';
import { outboxContract } from './outbox.ts';
import { projectsContract } from './projects.ts';
import { routingContract } from './routing.ts';
import { subscriptionsContract } from './subscriptions.ts';

export type StoreFactory = () => Promise<{ store: Store; close(): Promise<void> }>;

const PARTS = [
  chainChecksContract,
  channelsContract,
  deadLettersContract,
  editsContract,
  erasureContract,
  guildsContract,
  historyContract,
  inboxContract,
  knowledgeContract,
  outboxContract,
  projectsContract,
  routingContract,
  subscriptionsContract,
];

/** Tests that each get an empty store; `seen` gets each of its methods, and whether it was called. */
const testsWith = (make: StoreFactory, seen: Map<string, boolean>) =>
  it.extend('store', async () => {
    const { store, close } = await make();
    onTestFinished(close);
    return recorded(store, seen);
  });

export type StoreTest = ReturnType<typeof testsWith>;

/** Everything that an implementation of the port must do; `make` makes one empty store per test. */
export function storeContract(make: StoreFactory): void {
  const seen = new Map<string, boolean>();
  const test = testsWith(make, seen);
  for (const part of PARTS) part(test);

  it('rejects a call that fails with a StoreError, also once it is closed', async () => {
    const { store, close } = await make();
    const result = routed({ transfers: [storedTransfer(1), storedTransfer(1)] });
    await expect(store.routing.commit(result)).rejects.toBeInstanceOf(StoreError);
    await close();
    await expect(store.metrics.backlog(NOW)).rejects.toBeInstanceOf(StoreError);
    await expect(store.routing.commit(routed())).rejects.toBeInstanceOf(StoreError);
  });

  it('calls every method of the port', () => {
    expect([...seen].filter(([, isCalled]) => !isCalled)).toEqual([]);
  });
}

function recorded(store: Store, seen: Map<string, boolean>): Store {
  const groups = Object.entries(store).map(([group, methods]) => {
    const made = Object.entries(methods as Record<string, (...args: unknown[]) => unknown>).map(([name, method]) => {
      const place = `${group}.${name}`;
      seen.set(place, seen.get(place) ?? false);
      return [name, (...args: unknown[]) => seen.set(place, true) && method(...args)] as const;
    });
    return [group, Object.fromEntries(made)] as const;
  });
  return Object.fromEntries(groups) as unknown as Store;
}
