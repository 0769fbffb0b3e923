import { expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { auditContract } from './audit.ts';
import { balancesContract } from './balances.ts';
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
import { networksContract } from './networks.ts';
import { outboxContract } from './outbox.ts';
import { projectsContract } from './projects.ts';
import { routingContract } from './routing.ts';
import { subscriptionsContract } from './subscriptions.ts';
import { transferHistoryContract } from './transfer-history.ts';

/** Opens an empty store that is gone once the calling test has finished. */
export type OpenEmpty = () => Promise<Store>;

/** Makes an empty store; `close` removes it. */
export type StoreFactory = () => Promise<{ store: Store; close(): Promise<void> }>;

/** Everything that an implementation of the port must do; `make` makes one empty store per test. */
export function storeContract(make: StoreFactory): void {
  const called = new Set<string>();
  const offered = new Set<string>();
  const open: OpenEmpty = async () => {
    const { store, close } = await make();
    onTestFinished(close);
    return recorded(store, called, offered);
  };
  auditContract(open);
  balancesContract(open);
  chainChecksContract(open);
  channelsContract(open);
  deadLettersContract(open);
  editsContract(open);
  erasureContract(open);
  guildsContract(open);
  historyContract(open);
  inboxContract(open);
  knowledgeContract(open);
  networksContract(open);
  outboxContract(open);
  projectsContract(open);
  routingContract(open);
  transferHistoryContract(open);
  subscriptionsContract(open);

  it('rejects a call that fails with a StoreError, also once it is closed', async () => {
    const { store, close } = await make();
    const result = routed({ transfers: [storedTransfer(1), storedTransfer(1)] });
    await expect(store.routing.commit(result)).rejects.toBeInstanceOf(StoreError);
    await close();
    await expect(store.metrics.backlog(NOW)).rejects.toBeInstanceOf(StoreError);
    await expect(store.routing.commit(routed())).rejects.toBeInstanceOf(StoreError);
  });

  it('calls every method of the port', () => {
    expect([...offered].filter((method) => !called.has(method))).toEqual([]);
  });
}

/** The same store, which notes the methods it has and those that are called. */
function recorded(store: Store, called: Set<string>, offered: Set<string>): Store {
  const groups = Object.entries(store).map(([group, methods]) => {
    const made = Object.entries(methods as Record<string, (...args: unknown[]) => unknown>).map(([name, method]) => {
      offered.add(`${group}.${name}`);
      const call = (...args: unknown[]) => {
        called.add(`${group}.${name}`);
        return method(...args);
      };
      return [name, call] as const;
    });
    return [group, Object.fromEntries(made)] as const;
  });
  return Object.fromEntries(groups) as unknown as Store;
}
