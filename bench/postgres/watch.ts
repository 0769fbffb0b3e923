import pg from 'pg';

/** What waits in a bot's database, counted outside the bot: asking it would slow down what is measured. */
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
    close: () => client.end(),
  };
}
