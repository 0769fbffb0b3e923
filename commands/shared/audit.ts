import { MINUTE } from '../../src/domain/clock.ts';
import type { Action, Questions } from '../../src/domain/confirmation.ts';
import type { CommandServices } from './services.ts';

/** How long a question can be confirmed: as long as Discord allows a private reply to be edited. */
export const OPEN_MS = 15 * MINUTE;
/** Most open questions of one kind per guild: each may contain megabytes. */
const MOST_OPEN = 10;

/** The acting person and the guild. */
type Actor = { guildId: string; user: { id: string } };

/** Adds an entry to the audit log. `detail`: anything that can be JSON. */
export function record(
  { guildId, user }: Actor,
  { audit, now }: Pick<CommandServices, 'audit' | 'now'>,
  action: string,
  detail: unknown,
): Promise<void> {
  return audit.record({ guildId, userId: user.id, action, detail, at: now() });
}

/** Stores what somebody is asked to confirm; returns the ID for the question's buttons. */
export function ask<Asked extends Action>(
  { guildId, user }: Actor,
  { confirmations, now }: Pick<CommandServices, 'confirmations' | 'now'>,
  action: Asked,
  detail: Questions[Asked],
): Promise<number> {
  return confirmations.ask({ guildId, userId: user.id, action, detail, askedAt: now() }, MOST_OPEN);
}

/** Removes a question of the same person and returns its detail; null if it is gone or too old. */
export async function takeConfirmation<Asked extends Action>(
  { guildId, user }: Actor,
  { confirmations, now }: Pick<CommandServices, 'confirmations' | 'now'>,
  action: Asked,
  question: string | undefined,
): Promise<Questions[Asked] | null> {
  const id = Number(question);
  if (!Number.isSafeInteger(id)) return null;
  return confirmations.take({ guildId, userId: user.id, id, action, notBefore: now() - OPEN_MS });
}
