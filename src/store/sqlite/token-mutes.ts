import type { Database } from 'better-sqlite3';
import type { Asset, TokenMute } from '../../domain/subscription.ts';

/** The tokens that guilds do not want to see for a while. */
export function tokenMuteTable(db: Database) {
  const tokenMutes = db.prepare<[string, number], TokenMute>(
    'SELECT token, until FROM token_mutes WHERE guild_id = ? AND until > ? ORDER BY until, token',
  );
  const muteToken = db.prepare<[string, Asset, number]>(
    'INSERT INTO token_mutes (guild_id, token, until) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  );
  const unmuteToken = db.prepare<[string, Asset]>('DELETE FROM token_mutes WHERE guild_id = ? AND token = ?');
  return {
    tokenMutes: (guildId: string, now: number): TokenMute[] => tokenMutes.all(guildId, now),

    muteToken(guildId: string, token: Asset, until: number | null): void {
      if (until === null) unmuteToken.run(guildId, token);
      else muteToken.run(guildId, token, until);
    },
  };
}
