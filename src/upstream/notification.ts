import { z } from 'zod';
import type { AddressText } from '../domain/address.ts';
import { parseAddress } from '../domain/typed-address.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { type Call, call, jsonOf } from './http.ts';

/** A webhook as the service lists it; `id`: null if the service does not return one. */
export interface Webhook {
  id: string | null;
  url: string | null;
  /** `ALL`, `NATIVE`, `ERC20`, `ERC721`, or any other text. */
  eventType: string | null;
}

export interface NotificationOptions {
  /** Root of the interface, with its version segment. */
  url: string;
  projectId: string;
  apiKey: string;
  apiSecret: string;
  timeoutMs?: number | undefined;
  /** A request succeeded (null) or failed. A refusal counts as success: it concerns one project or webhook. */
  onResponse?: ((failure: UpstreamFailure | null) => void) | undefined;
}

export type WebhooksResult = { status: 'ok'; webhooks: Webhook[] } | UpstreamFailure;

export type AddressesResult = { status: 'ok'; addresses: AddressText[] } | UpstreamFailure;

/** The webhook no longer watches the addresses, with the service's message; or why it still does. */
export type RemovalResult = { status: 'ok'; message: string | null; deletedCount: number | null } | UpstreamFailure;

/** A webhook was created, with its ID if the service returns it; or why not. */
export type CreationResult = { status: 'ok'; id: string | null } | UpstreamFailure;

export type AdditionResult = { status: 'ok' } | UpstreamFailure;

const text = z.string().min(1).nullish().catch(null);

const webhook = z
  .looseObject({ _id: text, id: text, webhookId: text, webhookUrl: text, url: text, eventType: text })
  .transform(
    (row): Webhook => ({
      id: row.webhookId ?? row._id ?? row.id ?? null,
      url: row.webhookUrl ?? row.url ?? null,
      eventType: row.eventType ?? null,
    }),
  );

/** More than any project has. A response could contain hundreds of thousands, which would be slow to show. */
const MAX_WEBHOOKS = 1_000;

const rows = z.array(z.unknown());
const webhooks = z
  .union([
    rows,
    z.looseObject({ result: rows }).transform(({ result }) => result),
    z.looseObject({ data: rows }).transform(({ data }) => data),
    z.looseObject({ webhooks: rows }).transform(({ webhooks: list }) => list),
  ])
  .transform((list) => list.slice(0, MAX_WEBHOOKS).flatMap((row) => webhook.safeParse(row).data ?? []));

const addressRow = z.union([z.string(), z.looseObject({ address: z.string() }).transform(({ address }) => address)]);
const addresses = z.union([rows, z.looseObject({ result: rows }).transform(({ result }) => result)]).transform((list) =>
  list.flatMap((row) => {
    const parsed = parseAddress((addressRow.safeParse(row).data ?? '').toLowerCase());
    return parsed.ok ? [parsed.address] : [];
  }),
);

/** Any JSON, as opposed to a proxy's page. */
const answered = z.union([z.looseObject({}), rows]);

/** The response to a created webhook: the webhook itself, or in an envelope. */
const created = z
  .union([
    z.looseObject({ result: z.looseObject({}) }).transform(({ result }) => result),
    z.looseObject({ data: z.looseObject({}) }).transform(({ data }) => data),
    z.looseObject({ webhook: z.looseObject({}) }).transform(({ webhook: framed }) => framed),
    z.looseObject({}),
  ])
  .transform((row) => webhook.parse(row));

const removal = z.looseObject({
  message: text,
  acknowledged: z.boolean().nullish().catch(null),
  deletedCount: z.coerce.number().int().nonnegative().nullish().catch(null),
});

/** Failures that concern one project or webhook, not the service. */
const REFUSALS: readonly UpstreamFailure['status'][] = ['forbidden', 'rejected', 'limited'];

/**
 * The notification service's client. The specification describes how to list webhooks and remove addresses; the other
 * calls it only names, so a service may lack them.
 */
export type Notification = ReturnType<typeof createNotification>;

/** Creates the client; the keys leave it only in requests. */
export function createNotification(options: NotificationOptions) {
  const { url, projectId, apiKey, apiSecret, timeoutMs = 25_000, onResponse } = options;
  const at = (path: string) => {
    const target = new URL(`${url}${path}`);
    target.searchParams.set('apiKey', apiKey);
    return target;
  };

  /** Sends a request and parses its response by a schema. */
  async function request<Read>(schema: z.ZodType<Read>, what: Pick<Call, 'url' | 'method' | 'body' | 'timeoutMs'>) {
    // With this header, Ledgerbell's own service returns more than the specification shows, such as a webhook's id.
    const headers = { 'API-SECRET': apiSecret, prefer: 'return=representation' };
    const response = jsonOf(await call({ ...what, headers }));
    if (response.status !== 'ok') {
      onResponse?.(REFUSALS.includes(response.status) ? null : response);
      return response;
    }
    const { success, data } = schema.safeParse(response.json);
    onResponse?.(success ? null : { status: 'unreadable' });
    return success ? { status: 'ok' as const, data } : { status: 'unreadable' as const };
  }

  return {
    /** The project's webhooks. `withinMs` shortens the time limit. */
    async webhooks(withinMs = timeoutMs): Promise<WebhooksResult> {
      const url = at(`/webhooks/${encodeURIComponent(projectId)}`);
      const read = await request(webhooks, { url, timeoutMs: Math.min(withinMs, timeoutMs) });
      return read.status === 'ok' ? { status: 'ok', webhooks: read.data } : read;
    },

    async addresses(webhookId: string, withinMs: number): Promise<AddressesResult> {
      const url = at(`/webhook/addresses/${encodeURIComponent(webhookId)}`);
      const read = await request(addresses, { url, timeoutMs: Math.min(withinMs, timeoutMs) });
      return read.status === 'ok' ? { status: 'ok', addresses: read.data } : read;
    },

    /** Creates a webhook that sends every kind of event to a receiver URL; doing it twice creates two. */
    async createWebhook(webhookUrl: string): Promise<CreationResult> {
      const body = { projectId, webhookUrl, eventType: 'ALL' };
      const read = await request(created, { url: at('/webhook'), method: 'POST', body, timeoutMs });
      return read.status === 'ok' ? { status: 'ok', id: read.data.id } : read;
    },

    /** Adds addresses to a webhook; adding one that is there changes nothing. */
    async addAddresses(webhookId: string, addresses: readonly string[]): Promise<AdditionResult> {
      const url = at('/webhook/add-addresses');
      const read = await request(answered, { url, method: 'POST', body: { webhookId, addresses }, timeoutMs });
      return read.status === 'ok' ? { status: 'ok' } : read;
    },

    /** Removes addresses from a webhook; doing it twice changes nothing. */
    async removeAddresses(webhookId: string, addresses: readonly string[]): Promise<RemovalResult> {
      const url = at('/webhook/delete-addresses');
      const read = await request(removal, { url, method: 'POST', body: { webhookId, addresses }, timeoutMs });
      if (read.status !== 'ok') return read;
      const { message = null, acknowledged, deletedCount = null } = read.data;
      return acknowledged === false ? { status: 'unreadable' } : { status: 'ok', message, deletedCount };
    },
  };
}
