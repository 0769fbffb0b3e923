import { type APIButtonComponent, ButtonStyle } from 'discord.js';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import type { UpstreamFailure } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { ReceiverUrls } from '../../src/receiver/path-tokens.ts';
import type { Webhook, WebhooksResult } from '../../src/upstream/notification.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { button } from './components.ts';
import { explain, notConfigured } from './failure.ts';
import { record } from './records.ts';
import { MAX_ID } from './reply.ts';
import type { Context } from './services.ts';

/** How long a reply waits for the service where it can do without a response. */
export const SOON_MS = 3_000;
/** Only this many webhooks' addresses are read; a project with more is not checked for them. */
const MAX_WEBHOOKS = 10;
export const EVERY_TYPE = 'ALL';
/** The audit log's word for addresses that were added to a webhook. */
export const FILLED = 'webhook.fill';
/** Maximum addresses per request. The service documents no limit; this many take a second or two. */
const MAX_PER_REQUEST = 100;

export type ReadyProject = Extract<ProjectAccess, { status: 'ready' }>;

export async function projectOf({ guildId, t, projects }: Context): Promise<ReadyProject> {
  const access = await projects.accessOf(guildId);
  if (access.status === 'ready') return access;
  if (access.status !== 'off') throw new UserError(t(`webhook.${access.status}`));
  const isOperators = access.scope !== null && !access.own;
  const keys = ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_API_KEY', 'NOTIFICATION_API_SECRET'];
  throw notConfigured(t, 'notification', 'NOTIFICATION_URL', ...(isOperators ? keys : []));
}

export function pointsAt({ current, retiring }: ReceiverUrls, url: string | null): 'current' | 'retiring' | null {
  if (url === null) return null;
  const bare = (text: string | null) =>
    text !== null && URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
  if (bare(url) === bare(current)) return 'current';
  return bare(url) === bare(retiring) ? 'retiring' : null;
}

export async function postingHere(
  { notification, scope }: ReadyProject,
  { receiver }: Pick<Context, 'receiver'>,
  withinMs?: number,
): Promise<WebhooksResult> {
  const response = await notification.webhooks(withinMs);
  if (response.status !== 'ok') return response;
  const urls = receiver.urls(scope);
  return { status: 'ok', webhooks: response.webhooks.filter(({ url }) => pointsAt(urls, url) !== null) };
}

/** A webhook that posts here, with the addresses that it watches; null: the service does not show them. */
export interface Posting {
  id: string | null;
  eventType: string;
  addresses: ReadonlySet<AddressText> | null;
}

export function withAddresses(
  { notification }: ReadyProject,
  webhooks: readonly Webhook[],
  read = (id: string) => notification.knownAddresses(id, SOON_MS),
): Promise<Posting[]> {
  return Promise.all(
    webhooks.map(async ({ id, eventType }, index): Promise<Posting> => {
      const isAsked = id !== null && index < MAX_WEBHOOKS;
      const list = isAsked ? await read(id) : null;
      const addresses = list?.status === 'ok' ? new Set(list.addresses) : null;
      return { id, eventType: eventType ?? EVERY_TYPE, addresses };
    }),
  );
}

/** Whether this can be a webhook's ID; anything else must not go into a request or a custom ID. */
export const isWebhookId = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

/** The ID of the webhook that gets new addresses; several to choose from; or `unknown` if the list has no IDs. */
export function targetOf(here: readonly Webhook[], chosen: string | null): string | Webhook[] {
  const named = here.filter(({ id }) => id !== null && isWebhookId(id));
  if (named.length === 0) return chosen ?? 'unknown';
  if (named.some(({ id }) => id === chosen)) return chosen!;
  const complete = named.filter(({ eventType }) => eventType === EVERY_TYPE);
  const [only] = complete.length === 1 ? complete : named;
  return complete.length === 1 || named.length === 1 ? only!.id! : named;
}

/** Stops at the first batch that fails. `report` is called between batches; the lines show the result. */
export async function fillWebhook(
  { notification }: ReadyProject,
  webhook: string,
  addresses: readonly AddressText[],
  context: Context,
  report: (soFar: number) => Promise<unknown> = async () => undefined,
): Promise<{ isDone: boolean; lines: string[] }> {
  const { t } = context;
  const count = addresses.length;
  for (let done = 0; done < count; done += MAX_PER_REQUEST) {
    const part = addresses.slice(done, done + MAX_PER_REQUEST);
    const response = await notification.addAddresses(webhook, part.map(checksumAddress));
    if (response.status !== 'ok') {
      if (done > 0) await record(context, FILLED, { webhook, addresses: addresses.slice(0, done) });
      const reasons = isUnknownCall(response)
        ? [t('webhook.add.manual'), t('subscription.add.ownWebhook')]
        : [explain(t, response, 'notification')];
      return { isDone: false, lines: [...reasons, ...(done > 0 ? [t('webhook.add.partly', { done, count })] : [])] };
    }
    const soFar = done + part.length;
    if (soFar < count) await report(soFar);
  }
  await record(context, FILLED, { webhook, addresses });
  const name = (await context.storedProjects.webhookNames(context.guildId, context.network.id)).get(webhook);
  const called = name === undefined ? inCode(webhook, '', MAX_ID) : inCode(name, '');
  return { isDone: true, lines: [t('webhook.add.done', { count, webhook: called })] };
}

/** Failures that mean that the service lacks the call. */
export function isUnknownCall(failure: UpstreamFailure): boolean {
  return failure.status === 'rejected' || (failure.status === 'broken' && [405, 501].includes(failure.code));
}

/** `what` stands for the addresses to add, see `webhook:fill`. */
export const webhookButtons = {
  create: (t: Translate) => button(t('webhook.create.button'), 'webhook:create', ButtonStyle.Primary),
  add: (t: Translate, count: number, what = 'all') =>
    button(t('webhook.add.button', { count }), `webhook:fill:${what}`, ButtonStyle.Primary),
  addEverywhere: (t: Translate, what = 'all') =>
    button(t('webhook.add.everywhereButton'), `webhook:everywhere:${what}`, ButtonStyle.Primary),
  move: (t: Translate, count: number) =>
    button(t('webhook.move.button', { count }), 'webhook:move', ButtonStyle.Primary),
  receiverUrl: (t: Translate) => button(t('webhook.list.receiver'), 'setup:receiver'),
};

export function withOneFill(buttons: readonly APIButtonComponent[], t: Translate, what?: string): APIButtonComponent[] {
  const others = buttons.filter((button) => !('custom_id' in button && button.custom_id.startsWith('webhook:fill:')));
  return buttons.length - others.length > 1 ? [webhookButtons.addEverywhere(t, what), ...others] : [...buttons];
}
