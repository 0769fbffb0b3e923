import type { CommandServices } from './services.ts';

/** Adds an entry about what a person did in a guild to the audit log. `detail`: any JSON value. */
export function record(
  { guildId, user }: { guildId: string; user: { id: string } },
  { audit, now }: Pick<CommandServices, 'audit' | 'now'>,
  action: string,
  detail: unknown,
): Promise<void> {
  return audit.record({ guildId, userId: user.id, action, detail, at: now() });
}
