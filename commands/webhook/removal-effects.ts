import type { Use } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { operatorScope } from '../../src/domain/project.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { hasSeveral, watchedHere } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { pointsAt, type ReadyProject, SOON_MS } from '../shared/webhooks.ts';

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
  interaction: Use,
  scope: number,
  context: Context,
): Promise<RemovalEffects> {
  const { guildId } = interaction;
  const watching = await watchersOf(addresses, scope, context);
  const elsewhere = new Set(watching.filter((one) => one.guildId !== guildId).map(({ address }) => address));
  // One that watches several networks still gets alerts from the others.
  const isOnlyHere = ({ network }: Subscription) => network !== null || !hasSeveral(context.settings);
  const own = watching.filter((one) => one.guildId === guildId && !elsewhere.has(one.address) && isOnlyHere(one));
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
  { storedProjects, receiver, network }: Context,
): Promise<{ scope: number; isUnknown: boolean }> {
  const response = await notification.webhooks(SOON_MS);
  if (response.status !== 'ok') return { scope, isUnknown: false };
  const found = response.webhooks.find(({ id }) => id === webhook);
  const isUnknown = !found && response.webhooks.length > 0 && response.webhooks.every(({ id }) => id !== null);
  const own = (await storedProjects.all()).filter((project) => project.network === network.id);
  const scopes = [scope, operatorScope(network.id), ...own.map((project) => project.scope)];
  const target = scopes.find((one) => pointsAt(receiver.urls(one), found?.url ?? null) !== null);
  return { scope: target ?? scope, isUnknown };
}

/** The subscriptions to these addresses, of all guilds that get one scope's events. */
export async function watchersOf(addresses: AddressText[], scope: number, context: Context): Promise<Subscription[]> {
  const { subscriptions, storedProjects, network } = context;
  const [all, projects] = await Promise.all([subscriptions.watching(addresses), storedProjects.all()]);
  const own = projects.filter((project) => project.network === network.id);
  const scopes = new Map(own.map((project) => [project.guildId, project.scope]));
  // Guilds with other receiver URLs get no events from this one.
  return watchedHere(all, context).filter((one) => (scopes.get(one.guildId) ?? operatorScope(network.id)) === scope);
}
