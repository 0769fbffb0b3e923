import { MINUTE } from '../../src/domain/clock.ts';
import type { Action, Questions } from '../../src/domain/guild.ts';
import { UserError } from '../../src/errors.ts';
import { hasSeveral } from './networks.ts';
import type { Context } from './services.ts';

const OF_NETWORK = /^(webhook|setup\.(project|receiver))\b/;

export function record(context: Context, action: string, detail: object): Promise<void> {
  const { interaction, guildId, audit, now, network, settings } = context;
  const isNamed = hasSeveral(settings) && OF_NETWORK.test(action);
  const whole = isNamed ? { ...detail, network: network.id } : detail;
  return audit.record({ guildId, userId: interaction.user.id, action, detail: whole, at: now() });
}

/** How long a question can be confirmed: as long as Discord allows a private reply to be edited. */
export const OPEN_MS = 15 * MINUTE;
/** Maximum number of open questions of one kind per guild: each may contain megabytes. */
const MAX_OPEN = 10;

const LATE = {
  'webhook.remove': 'webhook.remove.late',
  'webhook.forget': 'webhook.remove.late',
  'webhook.restore': 'webhook.remove.late',
  'subscription.import': 'subscription.import.late',
  'subscription.group': 'watch.late',
  'subscription.panel': 'subscription.panel.late',
} as const satisfies Record<Action, string>;

/** Returns the ID for the question's buttons. */
export function ask<Kind extends Action>(
  { interaction, guildId, confirmations, now }: Context,
  action: Kind,
  detail: Questions[Kind],
): Promise<number> {
  return confirmations.ask({ guildId, userId: interaction.user.id, action, detail, askedAt: now() }, MAX_OPEN);
}

/** Only the person who was asked may confirm. Throws a {@link UserError} if the question is gone or too old. */
export async function takeConfirmation<Kind extends Action>(
  { interaction, guildId, confirmations, now, t }: Context,
  action: Kind,
  question: string | undefined,
): Promise<Questions[Kind]> {
  const id = Number(question);
  const press = { guildId, userId: interaction.user.id, id, action, notBefore: now() - OPEN_MS };
  const detail = Number.isSafeInteger(id) ? await confirmations.take(press) : null;
  if (detail === null) throw new UserError(t(LATE[action as Action]));
  return detail;
}
