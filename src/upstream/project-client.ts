import { hash } from 'node:crypto';
import { createCache } from './cache.ts';
import {
  type AddressesResult,
  createNotification,
  type Notification,
  type NotificationOptions,
} from './notification.ts';

/** A project's keys. */
export interface ProjectKeys {
  projectId: string;
  apiKey: string;
  apiSecret: string;
  /** The secrets that sign its deliveries: two while they are rotated. None: deliveries need no signature. */
  signingSecrets?: readonly string[];
}

/** A project's client, which also caches for a short time what its webhooks watch. */
export interface ProjectClient extends Notification {
  /** A webhook's addresses, read at most 30 s ago and after the bot's last change. */
  knownAddresses(webhookId: string, withinMs: number): Promise<AddressesResult>;
}

/** How long a webhook's addresses are cached: people add several in a row. */
const ADDRESSES_CACHE_MS = 30_000;
/** Maximum number of webhooks whose addresses are cached. */
const MAX_CACHED = 50;

/** Returns a function that makes the client of a project. All of these clients share one cache of addresses. */
export function createProjectClients(
  now: () => number,
  { onResponse, timeoutMs }: Pick<NotificationOptions, 'onResponse' | 'timeoutMs'>,
) {
  const cached = createCache<AddressesResult>(MAX_CACHED, now);
  /** How often the bot changed webhooks. It is part of the cache's key, so that no outdated list is used. */
  let changes = 0;

  return (url: string, keys: ProjectKeys): ProjectClient => {
    const client = createNotification({ url, ...keys, onResponse, timeoutMs });
    // Hashed, so that the keys themselves stay in no cache.
    const keyOf = (webhookId: string) => hash('sha256', JSON.stringify([keys, webhookId]));
    const changing =
      <Result>(change: (webhookId: string, addresses: readonly string[]) => Promise<Result>) =>
      (webhookId: string, addresses: readonly string[]): Promise<Result> =>
        change(webhookId, addresses).finally(() => void changes++);
    return {
      ...client,
      addAddresses: changing(client.addAddresses),
      removeAddresses: changing(client.removeAddresses),
      knownAddresses(webhookId, withinMs) {
        return cached(`${changes} ${keyOf(webhookId)}`, {
          load: () => client.addresses(webhookId, withinMs),
          keepMs: ({ status }) => (status === 'ok' ? ADDRESSES_CACHE_MS : 0),
        });
      },
    };
  };
}
