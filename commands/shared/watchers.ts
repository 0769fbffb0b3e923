import type { AddressText } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { ContextWith } from './services.ts';

type Watching = Awaited<ReturnType<ContextWith<'subscriptions'>['subscriptions']['watching']>>;

/** The subscriptions to these addresses, of all guilds that get one scope's events. */
export async function watchersOf(
  addresses: AddressText[],
  scope: number,
  { subscriptions, storedProjects }: ContextWith<'subscriptions' | 'storedProjects'>,
): Promise<Watching> {
  const [all, scopes] = await Promise.all([subscriptions.watching(addresses), storedProjects.scopes()]);
  // Guilds with other receiver URLs get no events from this one.
  return all.filter((one) => (scopes.get(one.guildId) ?? OPERATOR_SCOPE) === scope);
}
