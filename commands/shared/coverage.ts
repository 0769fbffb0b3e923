import type { APIButtonComponent, APIEmbedField } from 'discord.js';
import { ButtonStyle } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import type { ProjectClient } from '../../src/upstream/project-client.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { pointsAt } from './project.ts';
import { press } from './reply.ts';
import type { ContextWith } from './services.ts';

type Needs = ContextWith<'projects' | 'receiver'>;

/** How long a reply may wait for the service. */
const LOOK_MS = 3_000;
/** Most webhooks whose addresses are read; a project with more is not checked for them. */
const WEBHOOKS_MOST = 10;
/** The type of a webhook for every kind of event. */
export const EVERY_TYPE = 'ALL';

/** A webhook that posts here, with the addresses that it watches; null: the service does not show them. */
export interface Posting {
  id: string | null;
  eventType: string;
  addresses: ReadonlySet<AddressText> | null;
}

/**
 * Whether the webhooks that post here have some addresses. `operator`: the guild does not manage them. `manual`: the
 * bot cannot manage them. `unknown`: the service does not show it. `none`: no webhook posts here.
 */
export type Coverage =
  | { status: 'operator' }
  | { status: 'manual' | 'unknown'; url: string | null }
  | { status: 'none'; url: string | null }
  | { status: 'known'; url: string | null; missing: AddressText[]; onlyTypes: string[] };

type Ready = Extract<ProjectAccess, { status: 'ready' }>;

/** The project's webhooks that post to its receiver URL; a failure if they cannot be read. */
export async function postingHere(
  { notification, scope }: Ready,
  { receiver }: Needs,
  withinMs?: number,
): Promise<{ status: 'ok'; webhooks: Webhook[] } | Awaited<ReturnType<ProjectClient['webhooks']>>> {
  const response = await notification.webhooks(withinMs);
  if (response.status !== 'ok') return response;
  const urls = receiver.urls(scope);
  return { status: 'ok', webhooks: response.webhooks.filter(({ url }) => pointsAt(urls, url) !== null) };
}

/** What each of these webhooks watches, as far as the service shows it in time. */
export function withAddresses({ notification }: Ready, webhooks: readonly Webhook[]): Promise<Posting[]> {
  return Promise.all(
    webhooks.map(async ({ id, eventType }, index): Promise<Posting> => {
      const isAsked = id !== null && index < WEBHOOKS_MOST;
      const list = isAsked ? await notification.knownAddresses(id, LOOK_MS) : null;
      const addresses = list?.status === 'ok' ? new Set(list.addresses) : null;
      return { id, eventType: eventType ?? EVERY_TYPE, addresses };
    }),
  );
}

/** Checks whether the webhooks that post here have these addresses. */
export async function coverageOf(
  guildId: string,
  addresses: readonly AddressText[],
  context: Needs,
): Promise<Coverage> {
  const access = await context.projects.of(guildId);
  if (access.scope === null) return { status: 'operator' };
  const url = context.receiver.urls(access.scope).current;
  if (access.status !== 'ready' || url === null) return { status: 'manual', url };
  const here = await postingHere(access, context, LOOK_MS);
  if (here.status !== 'ok') return { status: 'unknown', url };
  if (here.webhooks.length === 0) return { status: 'none', url };
  const posting = await withAddresses(access, here.webhooks);
  const holding = (address: AddressText) => posting.filter((one) => one.addresses?.has(address));
  const missing = addresses.filter((address) => holding(address).length === 0);
  // If one list is missing, an address may be in that one.
  if (missing.length > 0 && posting.some((one) => one.addresses === null)) return { status: 'unknown', url };
  const types = new Set(addresses.flatMap(holding).map(({ eventType }) => eventType));
  return { status: 'known', url, missing, onlyTypes: types.has(EVERY_TYPE) ? [] : [...types] };
}

/**
 * What remains to do before alerts come, as a field and a button that does it. `what` identifies the addresses in the
 * button: a subscription's number, or `all`.
 */
export function nextStep(
  coverage: Coverage,
  count: number,
  what: string,
  { t }: ContextWith,
): { field: APIEmbedField; buttons: APIButtonComponent[]; isDone: boolean } {
  const step = (value: string, ...buttons: APIButtonComponent[]) => ({
    field: { name: t('subscription.add.next'), value },
    buttons,
    isDone: false,
  });
  const fill = (missing: number) =>
    press(t('webhook.fill.button', { count: missing }), `webhook:fill:${what}`, ButtonStyle.Primary);
  switch (coverage.status) {
    case 'operator':
      return step(t('subscription.add.operatorWebhook'));
    case 'manual':
    case 'unknown': {
      const { url, status } = coverage;
      if (url === null) return step(t('setup.project.noUrl'));
      return step(t('subscription.add.ownWebhook'), ...(status === 'unknown' ? [fill(count)] : []));
    }
    case 'none':
      return step(t('webhook.create.needed'), press(t('webhook.create.button'), 'webhook:create', ButtonStyle.Primary));
    case 'known': {
      const { missing, onlyTypes } = coverage;
      if (missing.length > 0) return step(t('webhook.fill.missing', { count: missing.length }), fill(missing.length));
      const types = onlyTypes.map((type) => inCode(type, '?')).join(t('reply.comma'));
      const lines = [
        t('webhook.fill.covered', { count }),
        onlyTypes.length > 0 ? t('webhook.fill.onlyTypes', { types }) : null,
      ];
      return {
        field: { name: t('webhook.fill.willCome'), value: lines.filter((line) => line !== null).join('\n') },
        buttons: [],
        isDone: true,
      };
    }
  }
}
