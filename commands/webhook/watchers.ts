import type { AddressText } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { ContextWith } from '../shared/services.ts';

/** The subscriptions to these addresses, of all guilds that get one scope's events. */
export async function watchersOf(
  addresses: AddressText[],
  scope: number,
  { subscriptions, storedProjects }: ContextWith<'subscriptions' | 'storedProjects'>,
): Promise<Subscription[]> {
  const [all, scopes] = await Promise.all([subscriptions.watching(addresses), storedProjects.scopes()]);
  // Guilds with other receiver URLs get no events from this one.
  return all.filter((one) => (scopes.get(one.guildId) ?? OPERATOR_SCOPE) === scope);
}
