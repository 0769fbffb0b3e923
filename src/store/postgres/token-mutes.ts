import type { Asset, TokenMute } from '../../domain/subscription.ts';
import type { Connection } from './connection.ts';

/** The tokens that guilds do not want to see for a while. */
export function tokenMuteTable(db: Connection) {
  return {
    tokenMutes: (guildId: string, now: number) =>
      db.reads.all<TokenMute>(
        'SELECT token, until FROM token_mutes WHERE guild_id = $1 AND until > $2 ORDER BY until, token',
        guildId,
        now,
      ),

    muteToken: (guildId: string, token: Asset, until: number | null) =>
      db.write(async (sql) => {
        if (until === null) {
          await sql.run('DELETE FROM token_mutes WHERE guild_id = $1 AND token = $2', guildId, token);
          return;
        }
        await sql.run(
          `INSERT INTO token_mutes (guild_id, token, until) VALUES ($1, $2, $3)
           ON CONFLICT (guild_id, token) DO UPDATE SET until = excluded.until`,
          guildId,
          token,
          until,
        );
      }),
  };
}
