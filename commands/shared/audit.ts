import { MINUTE } from '../../src/domain/clock.ts';
import type { CommandServices } from './services.ts';

/** How long a question can be answered: as long as Discord lets a private reply be edited. */
export const OPEN_MS = 15 * MINUTE;
/** How many open questions of one kind a guild may have: each may hold megabytes. */
const MOST_OPEN = 10;

/** Who acts, and in which guild. */
type Actor = { guildId: string; user: { id: string } };

/** Adds to the audit log what somebody did. `detail` is anything that becomes JSON. */
export function record(
  { guildId, user }: Actor,
  { audit, now }: Pick<CommandServices, 'audit' | 'now'>,
  action: string,
  detail: unknown,
): Promise<void> {
  return audit.record({ guildId, userId: user.id, action, detail, at: now() });
}

/** Stores what somebody is asked to confirm; returns the id that the question's buttons carry. */
export function ask(
  { guildId, user }: Actor,
  { confirmations, now }: Pick<CommandServices, 'confirmations' | 'now'>,
  action: string,
  detail: unknown,
): Promise<number> {
  return confirmations.ask({ guildId, userId: user.id, action, detail, askedAt: now() }, MOST_OPEN);
}

/** Takes the detail of a question that the same person was asked, once; null if it is gone or too old. */
export async function takeConfirmation<Detail>(
  { guildId, user }: Actor,
  { confirmations, now }: Pick<CommandServices, 'confirmations' | 'now'>,
  action: string,
  question: string | undefined,
): Promise<Detail | null> {
  const id = Number(question);
  if (!Number.isSafeInteger(id)) return null;
  const detail = await confirmations.take({ guildId, userId: user.id, id, action, notBefore: now() - OPEN_MS });
  return detail as Detail | null;
}
