import type { APIButtonComponent, APIEmbedField } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import type { ContextWith } from './services.ts';
import { addToWebhookButton, createWebhookButton, EVERY_TYPE, postingHere, withAddresses } from './webhooks.ts';

type Needs = ContextWith<'projects' | 'receiver'>;

/** How long a reply waits for the list of webhooks. */
const REQUEST_TIMEOUT_MS = 3_000;

/**
 * Whether the webhooks that post here have some addresses. `operator`: the guild does not manage them. `manual`: the
 * bot cannot manage them. `unknown`: the service does not show it. `no-webhook`: none posts here.
 */
type Coverage =
  | { status: 'operator' | 'no-url' | 'manual' | 'unknown' | 'no-webhook' }
  | { status: 'known'; missing: AddressText[]; onlyTypes: string[] };

/**
 * What remains to do before these addresses get alerts, as a field and the buttons that do it; `what` identifies
 * the addresses in a button: a subscription's number, or `all`.
 */
export async function nextStep(
  guildId: string,
  addresses: readonly AddressText[],
  what: string,
  context: Needs,
): Promise<{ field: APIEmbedField; buttons: APIButtonComponent[] }> {
  const { t } = context;
  const count = addresses.length;
  const coverage = await coverageOf(guildId, addresses, context);
  const step = (value: string, ...buttons: APIButtonComponent[]) => ({
    field: { name: t('subscription.add.next'), value },
    buttons,
  });
  switch (coverage.status) {
    case 'operator':
      return step(t('subscription.add.operatorWebhook'));
    case 'no-url':
      return step(t('setup.project.noUrl'));
    case 'manual':
      return step(t('subscription.add.ownWebhook'));
    case 'unknown':
      return step(t('subscription.add.ownWebhook'), addToWebhookButton(t, count, what));
    case 'no-webhook':
      return step(t('webhook.create.needed'), createWebhookButton(t));
    case 'known': {
      const missing = coverage.missing.length;
      if (missing > 0) return step(t('webhook.add.missing', { count: missing }), addToWebhookButton(t, missing, what));
      const types = coverage.onlyTypes.map((type) => inCode(type, '?')).join(t('reply.comma'));
      const lines = [t('webhook.add.covered', { count }), ...(types ? [t('webhook.add.onlyTypes', { types })] : [])];
      return { field: { name: t('webhook.add.willCome'), value: lines.join('\n') }, buttons: [] };
    }
  }
}

/** Checks whether the webhooks that post here have these addresses. */
async function coverageOf(guildId: string, addresses: readonly AddressText[], context: Needs): Promise<Coverage> {
  const access = await context.projects.of(guildId);
  if (access.scope === null) return { status: 'operator' };
  if (context.receiver.urls(access.scope).current === null) return { status: 'no-url' };
  if (access.status !== 'ready') return { status: 'manual' };
  const here = await postingHere(access, context, REQUEST_TIMEOUT_MS);
  if (here.status !== 'ok') return { status: 'unknown' };
  if (here.webhooks.length === 0) return { status: 'no-webhook' };
  const posting = await withAddresses(access, here.webhooks);
  const holding = (address: AddressText) => posting.filter((one) => one.addresses?.has(address));
  const missing = addresses.filter((address) => holding(address).length === 0);
  // If one list is missing, an address may be in that one.
  if (missing.length > 0 && posting.some((one) => one.addresses === null)) return { status: 'unknown' };
  const types = new Set(addresses.flatMap(holding).map(({ eventType }) => eventType));
  return { status: 'known', missing, onlyTypes: types.has(EVERY_TYPE) ? [] : [...types] };
}
