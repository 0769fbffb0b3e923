import type { ButtonUse, CommandUse } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { pointsAt, type ReadyProject } from '../shared/webhooks.ts';
import { watchersOf } from './watchers.ts';

/** How long the preview waits for the service. */
const REQUEST_TIMEOUT_MS = 3_000;

/** What removing addresses from a webhook would do. */
export interface RemovalEffects {
  /** The addresses that no other guild needs. */
  free: AddressText[];
  /** Those that another guild needs. */
  needed: AddressText[];
  /** The guild's subscriptions that would get no alerts, as far as the person sees them. */
  silent: Subscription[];
  /** How many more of them there are. */
  unseen: number;
}

/** Works out what removing addresses from a webhook of this scope would do. */
export async function removalEffects(
  addresses: AddressText[],
  interaction: CommandUse | ButtonUse,
  scope: number,
  context: ContextWith<'guildChannels' | 'subscriptions' | 'storedProjects'>,
): Promise<RemovalEffects> {
  const { guildId } = interaction;
  const watching = await watchersOf(addresses, scope, context);
  const elsewhere = new Set(watching.filter((one) => one.guildId !== guildId).map(({ address }) => address));
  const own = watching.filter((one) => one.guildId === guildId && !elsewhere.has(one.address));
  const channels = own.map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  const silent = own.filter(({ channelId }) => !hidden.has(channelId));
  return {
    free: addresses.filter((address) => !elsewhere.has(address)),
    needed: addresses.filter((address) => elsewhere.has(address)),
    silent,
    unseen: own.length - silent.length,
  };
}

/**
 * The scope of a webhook's events (two guilds may store the same project, each with its own webhook), and whether no
 * webhook has this ID: only a hint, because the service's list may lack IDs.
 */
export async function scopeOf(
  webhook: string,
  { notification, scope }: ReadyProject,
  { storedProjects, receiver }: ContextWith<'storedProjects' | 'receiver'>,
): Promise<{ scope: number; isUnknown: boolean }> {
  const response = await notification.webhooks(REQUEST_TIMEOUT_MS);
  if (response.status !== 'ok') return { scope, isUnknown: false };
  const found = response.webhooks.find(({ id }) => id === webhook);
  const isUnknown = !found && response.webhooks.length > 0 && response.webhooks.every(({ id }) => id !== null);
  const scopes = [scope, OPERATOR_SCOPE, ...(await storedProjects.scopes()).values()];
  const target = scopes.find((one) => pointsAt(receiver.urls(one), found?.url ?? null) !== null);
  return { scope: target ?? scope, isUnknown };
}
