import { type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { ReceiverUrls } from '../../src/receiver/paths.ts';
import type { Webhook, WebhooksResult } from '../../src/upstream/notification.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { button } from './components.ts';
import type { ContextWith } from './services.ts';

/** How long a reply waits for a webhook's addresses. */
const REQUEST_TIMEOUT_MS = 3_000;
/** Only this many webhooks' addresses are read; a project with more is not checked for them. */
export const MAX_WEBHOOKS = 10;
/** The type of a webhook for every kind of event. */
export const EVERY_TYPE = 'ALL';

/** A project that a guild manages, with its client. */
export type ReadyProject = Extract<ProjectAccess, { status: 'ready' }>;

/** A webhook that posts here, with the addresses that it watches; null: the service does not show them. */
export interface Posting {
  id: string | null;
  eventType: string;
  addresses: ReadonlySet<AddressText> | null;
}

/** Which of these receiver URLs a webhook posts to; null: neither. */
export function pointsAt({ current, retiring }: ReceiverUrls, url: string | null): 'current' | 'retiring' | null {
  if (url === null) return null;
  const bare = (text: string | null) =>
    text !== null && URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
  if (bare(url) === bare(current)) return 'current';
  return bare(url) === bare(retiring) ? 'retiring' : null;
}

/** The project's webhooks that post to its receiver URL; a failure if they cannot be read. */
export async function postingHere(
  { notification, scope }: ReadyProject,
  { receiver }: ContextWith<'receiver'>,
  withinMs?: number,
): Promise<WebhooksResult> {
  const response = await notification.webhooks(withinMs);
  if (response.status !== 'ok') return response;
  const urls = receiver.urls(scope);
  return { status: 'ok', webhooks: response.webhooks.filter(({ url }) => pointsAt(urls, url) !== null) };
}

/** What each of these webhooks watches, as far as the service shows it in time. */
export function withAddresses({ notification }: ReadyProject, webhooks: readonly Webhook[]): Promise<Posting[]> {
  return Promise.all(
    webhooks.map(async ({ id, eventType }, index): Promise<Posting> => {
      const isAsked = id !== null && index < MAX_WEBHOOKS;
      const list = isAsked ? await notification.knownAddresses(id, REQUEST_TIMEOUT_MS) : null;
      const addresses = list?.status === 'ok' ? new Set(list.addresses) : null;
      return { id, eventType: eventType ?? EVERY_TYPE, addresses };
    }),
  );
}

/** The button that creates the webhook. */
export const createWebhookButton = (t: Translate): APIButtonComponent =>
  button(t('webhook.create.button'), 'webhook:create', ButtonStyle.Primary);

/** The button that adds watched addresses to the webhook; `what`: a subscription's number, or `all`. */
export const addToWebhookButton = (t: Translate, count: number, what = 'all'): APIButtonComponent =>
  button(t('webhook.add.button', { count }), `webhook:fill:${what}`, ButtonStyle.Primary);

/** The button that shows the receiver URL. */
export const receiverUrlButton = (t: Translate): APIButtonComponent =>
  button(t('webhook.list.receiver'), 'setup:receiver');
