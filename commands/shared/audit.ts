import type { CommandContext } from '../../src/discord/command.ts';
import { MINUTE } from '../../src/domain/clock.ts';

/** How long a question can be answered: as long as Discord lets a private answer be changed. */
export const OPEN_MS = 15 * MINUTE;

/** Who did something, and in which guild; every interaction tells that. */
type Actor = { guildId: string; user: { id: string } };
type Needed = Pick<CommandContext, 'store' | 'now'>;

/** Writes into the audit log who did what; gives the entry's number. `detail` is anything that becomes JSON. */
export function record(
  { guildId, user }: Actor,
  { store, now }: Needed,
  action: string,
  detail: unknown,
): Promise<number> {
  return store.audit.record({ guildId, userId: user.id, action, detail, at: now() });
}

/**
 * Gives the detail of an entry that the same person made a moment ago to ask for something, and turns the entry's action
 * from `from` into `to`, so that it is done once. null when there is no such entry, or it is too old.
 */
export async function takeUp<Wish>(
  { guildId, user }: Actor,
  { store, now }: Needed,
  entry: string | undefined,
  { from, to }: { from: string; to: string },
): Promise<Wish | null> {
  const id = Number(entry);
  if (!Number.isSafeInteger(id)) return null;
  const wish = await store.confirmations.take({ guildId, userId: user.id, id, from, to, since: now() - OPEN_MS });
  return wish as Wish | null;
}
