import Database from 'better-sqlite3';

/** What waits in a bot's database, counted outside the bot: asking it would slow down what is measured. */
export function openWaiting(file: string) {
  const db = new Database(file, { readonly: true, timeout: 5_000 });
  const inbox = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM inbox');
  const alerts = db.prepare<[], { n: number }>("SELECT count(*) AS n FROM alerts WHERE state <> 'sent'");
  return {
    waiting: async () => ({ inbox: inbox.get()!.n, alerts: alerts.get()!.n }),
    close: async () => void db.close(),
  };
}
