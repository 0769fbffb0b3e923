import type { ButtonUse, CommandUse } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { OPERATOR_SCOPE } from '../../src/domain/scope.ts';
import type { Notification } from '../../src/upstream/notification.ts';
import { pointsAt } from '../shared/project.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { watchersOf } from '../shared/watchers.ts';

/** How long the preview may wait for the service. */
const LOOK_MS = 3_000;

/** Who needs the addresses of a webhook that somebody wants to take from it. */
export type Standing = Awaited<ReturnType<typeof standing>>;

/**
 * Which addresses nobody else needs, which somebody does, and what falls silent here, as far as the person sees it;
 * `unseen`: how many more.
 */
export async function standing(
  addresses: AddressText[],
  interaction: CommandUse | ButtonUse,
  scope: number,
  context: ContextWith<'subscriptions' | 'storedProjects' | 'now'>,
) {
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
 * Whose events a webhook brings (two guilds may store the same project, each with a webhook of its own), and whether
 * there is none of this id: a hint only, because the service's list need not give ids.
 */
export async function lookUp(
  webhook: string,
  { notification, scope }: { notification: Notification; scope: number },
  { storedProjects, receiver }: Pick<ContextWith<'storedProjects' | 'receiver'>, 'storedProjects' | 'receiver'>,
): Promise<{ scope: number; isUnknown: boolean }> {
  const answer = await notification.webhooks(LOOK_MS);
  if (answer.status !== 'ok') return { scope, isUnknown: false };
  const found = answer.webhooks.find(({ id }) => id === webhook);
  const isUnknown = !found && answer.webhooks.length > 0 && answer.webhooks.every(({ id }) => id !== null);
  const scopes = [scope, OPERATOR_SCOPE, ...(await storedProjects.scopes()).values()];
  const target = scopes.find((one) => pointsAt(receiver.urls(one), found?.url ?? null) !== null);
  return { scope: target ?? scope, isUnknown };
}
