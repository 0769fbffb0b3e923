import type { NewProject, ReceiverToken, StoredProject } from '../../domain/project.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import type { Connection, Statements } from './connection.ts';

const PROJECTS = 'SELECT id AS scope, guild_id AS "guildId", project_id AS "projectId", sealed, signed FROM projects';

/** The scope that each of these guilds gets events from: its own project's, or else the operator's. */
export async function scopesOf(sql: Statements, guildIds: readonly string[]): Promise<Map<string, number>> {
  const own = await sql.all<{ guildId: string; scope: number }>(
    'SELECT guild_id AS "guildId", id AS scope FROM projects WHERE guild_id = ANY($1::text[])',
    guildIds,
  );
  const scopes = new Map(guildIds.map((guildId) => [guildId, OPERATOR_SCOPE]));
  for (const { guildId, scope } of own) scopes.set(guildId, scope);
  return scopes;
}

const addToken = (sql: Statements, token: string, scope: number): Promise<number> =>
  sql.run('INSERT INTO receiver_tokens (token, scope) VALUES ($1, $2) ON CONFLICT DO NOTHING', token, scope);

/** Guilds' own projects, the receiver's path tokens, and the names that guilds give to webhooks. */
export function projectsTable(db: Connection) {
  return { ...ownProjects(db), ...pathTokens(db), ...webhookNames(db) };
}

function ownProjects(db: Connection) {
  return {
    ofGuild: async (guildId: string) =>
      (await db.reads.get<StoredProject>(`${PROJECTS} WHERE guild_id = $1`, guildId)) ?? null,

    all: () => db.reads.all<StoredProject>(`${PROJECTS} ORDER BY id`),

    async scopes(): Promise<Map<string, number>> {
      const all = await db.reads.all<{ guildId: string; scope: number }>(
        'SELECT guild_id AS "guildId", id AS scope FROM projects',
      );
      return new Map(all.map(({ guildId, scope }) => [guildId, scope]));
    },

    save: ({ guildId, projectId, sealed, signed = false }: NewProject, token: string) =>
      db.write(async (sql) => {
        const saved = await sql.get<{ scope: number }>(
          `INSERT INTO projects (guild_id, project_id, sealed, signed) VALUES ($1, $2, $3, $4)
           ON CONFLICT (guild_id) DO UPDATE SET project_id = excluded.project_id, sealed = excluded.sealed,
             signed = excluded.signed
           RETURNING id AS scope`,
          guildId,
          projectId,
          sealed,
          signed,
        );
        const { scope } = saved!;
        const current = await sql.get('SELECT FROM receiver_tokens WHERE scope = $1 AND NOT retiring', scope);
        if (!current) await addToken(sql, token, scope);
        return scope;
      }),

    reseal: ({ scope, sealed }: StoredProject, resealed: Uint8Array) =>
      db.write(async (sql) => {
        await sql.run('UPDATE projects SET sealed = $1 WHERE id = $2 AND sealed = $3', resealed, scope, sealed);
      }),

    remove: (guildId: string) =>
      db.write(async (sql) => {
        const dropped = await sql.get<{ scope: number }>(
          'DELETE FROM projects WHERE guild_id = $1 RETURNING id AS scope',
          guildId,
        );
        if (!dropped) return false;
        await sql.run('DELETE FROM receiver_tokens WHERE scope = $1', dropped.scope);
        await sql.run('DELETE FROM scope_usage WHERE scope = $1', dropped.scope);
        await sql.run('DELETE FROM webhook_names WHERE guild_id = $1', guildId);
        return true;
      }),
  };
}

function pathTokens(db: Connection) {
  return {
    tokens: () =>
      db.reads.all<ReceiverToken>('SELECT token, scope, retiring FROM receiver_tokens ORDER BY scope, retiring DESC'),

    addToken: (token: string, scope: number) => db.write(async (sql) => void (await addToken(sql, token, scope))),

    rotateToken: (scope: number, token: string) =>
      db.write(async (sql) => {
        if (await sql.get('SELECT FROM receiver_tokens WHERE scope = $1 AND retiring', scope)) return false;
        await sql.run('UPDATE receiver_tokens SET retiring = TRUE WHERE scope = $1', scope);
        await addToken(sql, token, scope);
        return true;
      }),

    revokeToken: (scope: number) =>
      db.write(async (sql) => (await sql.run('DELETE FROM receiver_tokens WHERE scope = $1 AND retiring', scope)) > 0),
  };
}

function webhookNames(db: Connection) {
  return {
    async webhookNames(guildId: string): Promise<Map<string, string>> {
      const all = await db.reads.all<{ id: string; name: string }>(
        'SELECT webhook_id AS id, name FROM webhook_names WHERE guild_id = $1',
        guildId,
      );
      return new Map(all.map(({ id, name }) => [id, name]));
    },

    nameWebhook: (guildId: string, webhookId: string, name: string | null) =>
      db.write(async (sql) => {
        if (name === null) {
          await sql.run('DELETE FROM webhook_names WHERE guild_id = $1 AND webhook_id = $2', guildId, webhookId);
          return;
        }
        await sql.run(
          `INSERT INTO webhook_names (guild_id, webhook_id, name) VALUES ($1, $2, $3)
           ON CONFLICT (guild_id, webhook_id) DO UPDATE SET name = excluded.name`,
          guildId,
          webhookId,
          name,
        );
      }),
  };
}
