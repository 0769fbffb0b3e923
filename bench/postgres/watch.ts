import { readFileSync } from 'node:fs';
import pg from 'pg';

/** What waits in a bot's database, and the work of its server, seen from outside the bot. */
export async function watch(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  return {
    async waiting(): Promise<{ inbox: number; alerts: number }> {
      const { rows } = await client.query<{ inbox: string; alerts: string }>(
        `SELECT (SELECT count(*) FROM inbox) AS inbox, (SELECT count(*) FROM alerts WHERE state <> 'sent') AS alerts`,
      );
      return { inbox: Number(rows[0]!.inbox), alerts: Number(rows[0]!.alerts) };
    },
    /** CPU seconds that the server's processes have used. */
    async seconds(): Promise<number> {
      const { rows } = await client.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
      );
      const used = rows.map(({ pid }) => {
        const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
        return (Number(fields[11]) + Number(fields[12])) / 100;
      });
      return used.reduce((sum, one) => sum + one, 0);
    },
    close: () => client.end(),
  };
}
