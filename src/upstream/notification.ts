import { z } from 'zod';
import { type AddressText, parseAddress } from '../domain/address.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { type ClientOptions, call, isObject, jsonOf } from './http.ts';

export interface Webhook {
  id: string | null;
  url: string | null;
  /** `ALL`, `NATIVE`, `ERC20`, `ERC721`, or any other text. */
  eventType: string | null;
}

export interface NotificationOptions extends ClientOptions {
  projectId: string;
  apiKey: string;
  apiSecret: string;
}

type Result<Read> = ({ status: 'ok' } & Read) | UpstreamFailure;
export type WebhooksResult = Result<{ webhooks: Webhook[] }>;
export type AddressesResult = Result<{ addresses: AddressText[] }>;
export type RemovalResult = Result<{ message: string | null; deletedCount: number | null }>;

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

const ENVELOPES = ['result', 'data', 'webhooks', 'webhook'];
/** The payload of a response, with or without an envelope. */
const unwrapped = <Read>(isWanted: (value: unknown) => boolean, schema: z.ZodType<Read>) =>
  z.preprocess((json) => (isObject(json) && ENVELOPES.map((name) => json[name]).find(isWanted)) || json, schema);
const rows = unwrapped(Array.isArray, z.array(z.unknown()));

const webhooks = rows.transform((list) => ({
  webhooks: list.slice(0, MAX_WEBHOOKS).flatMap((row) => webhook.safeParse(row).data ?? []),
}));

const addressRow = z.union([z.string(), z.looseObject({ address: z.string() }).transform(({ address }) => address)]);
const addresses = rows.transform((list) => ({
  addresses: list.flatMap((row) => {
    const parsed = parseAddress((addressRow.safeParse(row).data ?? '').toLowerCase());
    return parsed.ok ? [parsed.address] : [];
  }),
}));

const created = unwrapped(isObject, webhook).transform(({ id }) => ({ id }));

/** Any JSON, as opposed to a proxy's page. */
const answered = z.union([z.looseObject({}), z.array(z.unknown())]).transform(() => ({}));

const removal = z
  .looseObject({
    message: text,
    acknowledged: z.boolean().nullish().catch(null),
    deletedCount: z.coerce.number().int().nonnegative().nullish().catch(null),
  })
  .transform(({ message = null, acknowledged, deletedCount = null }) => ({ message, acknowledged, deletedCount }));

/** Failures that concern one project or webhook, not the service. */
const REFUSALS: readonly UpstreamFailure['status'][] = ['forbidden', 'rejected', 'limited'];

/** The specification describes how to list webhooks and remove addresses. A service may lack the other calls. */
export type Notification = ReturnType<typeof createNotification>;

export function createNotification(options: NotificationOptions) {
  const { url, projectId, apiKey, apiSecret, timeoutMs = 25_000, onResponse } = options;
  async function request<Read extends object>(
    schema: z.ZodType<Read>,
    path: string,
    body?: object,
    withinMs = timeoutMs,
  ): Promise<Result<Read>> {
    const target = new URL(`${url}${path}`);
    target.searchParams.set('apiKey', apiKey);
    const response = jsonOf(
      await call({
        url: target,
        method: body === undefined ? 'GET' : 'POST',
        // With `prefer`, Ledgerbell's own service returns more than the specification shows, such as a webhook's id.
        headers: { 'API-SECRET': apiSecret, prefer: 'return=representation' },
        body,
        timeoutMs: Math.min(withinMs, timeoutMs),
      }),
    );
    if (response.status !== 'ok') {
      onResponse?.(REFUSALS.includes(response.status) ? null : response);
      return response;
    }
    const { success, data } = schema.safeParse(response.json);
    onResponse?.(success ? null : { status: 'unreadable' });
    return success ? { status: 'ok', ...data } : { status: 'unreadable' };
  }

  return {
    webhooks: (withinMs?: number): Promise<WebhooksResult> =>
      request(webhooks, `/webhooks/${encodeURIComponent(projectId)}`, undefined, withinMs),

    addresses: (webhookId: string, withinMs: number): Promise<AddressesResult> =>
      request(addresses, `/webhook/addresses/${encodeURIComponent(webhookId)}`, undefined, withinMs),

    /** Doing it twice creates two webhooks. */
    createWebhook: (webhookUrl: string) => request(created, '/webhook', { projectId, webhookUrl, eventType: 'ALL' }),

    /** Adding an address that is there changes nothing. */
    addAddresses: (webhookId: string, addresses: readonly string[]) =>
      request(answered, '/webhook/add-addresses', { webhookId, addresses }),

    /** Doing it twice changes nothing. */
    async removeAddresses(webhookId: string, addresses: readonly string[]): Promise<RemovalResult> {
      const read = await request(removal, '/webhook/delete-addresses', { webhookId, addresses });
      return read.status === 'ok' && read.acknowledged === false ? { status: 'unreadable' } : read;
    },
  };
}
