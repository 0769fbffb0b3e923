import type { AddressText } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { ContextWith } from './services.ts';

type Watching = Awaited<ReturnType<ContextWith<'subscriptions'>['subscriptions']['watching']>>;

/** Who watches these addresses, of all guilds whose events come to one scope's URL. */
export async function watchersOf(
  addresses: AddressText[],
  scope: number,
  { subscriptions, storedProjects }: ContextWith<'subscriptions' | 'storedProjects'>,
): Promise<Watching> {
  const [all, scopes] = await Promise.all([subscriptions.watching(addresses), storedProjects.scopes()]);
  // What the guilds of other receiver URLs watch does not come over this one.
  return all.filter((one) => (scopes.get(one.guildId) ?? OPERATOR_SCOPE) === scope);
}
