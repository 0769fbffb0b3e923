import pg from 'pg';
import { openPostgresForCopy } from '../../src/store/postgres/open.ts';

/** Subscriptions to this many of the bench's addresses, in these channels in turn, in an empty database. */
export async function fill(url: string, addresses: number, channels: readonly string[]): Promise<void> {
  // Makes the tables.
  await (await openPostgresForCopy(url, { isSource: false }))[Symbol.asyncDispose]();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    `INSERT INTO subscriptions (guild_id, channel_id, address, created_by, created_at)
     SELECT (1 + n % $2 / 50)::text, ($3::text[])[1 + n % $2], '0xa' || lpad(to_hex(n + 1), 39, '0'), '1', 0
     FROM generate_series(0, $1::int - 1) AS n`,
    [addresses, channels.length, channels],
  );
  await client.query('VACUUM ANALYZE');
  await client.end();
}

/** What waits in a bot's database, counted outside the bot: asking it would slow down what is measured. */
export async function openWaiting(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  return {
    async waiting(): Promise<{ inbox: number; alerts: number }> {
      const { rows } = await client.query<{ inbox: string; alerts: string }>(
        `SELECT (SELECT count(*) FROM inbox) AS inbox, (SELECT count(*) FROM alerts WHERE state <> 'sent') AS alerts`,
      );
      return { inbox: Number(rows[0]!.inbox), alerts: Number(rows[0]!.alerts) };
    },
    close: () => client.end(),
  };
}
