import type { Database } from 'better-sqlite3';
import type { NewProject, ReceiverToken, StoredProject } from '../../domain/project.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';

const COLUMNS = 'id AS scope, guild_id AS guildId, project_id AS projectId, sealed, signed';

type ProjectRow = Omit<StoredProject, 'signed'> & { signed: 0 | 1 };

const toProject = ({ signed, ...row }: ProjectRow): StoredProject => ({ ...row, signed: signed === 1 });

/** Looks up the scope that a guild gets events from: its own project's, or else the operator's. */
export function scopeLookUp(db: Database): (guildId: string) => number {
  const own = db.prepare<[string], number>('SELECT id FROM projects WHERE guild_id = ?').pluck();
  return (guildId) => own.get(guildId) ?? OPERATOR_SCOPE;
}

/** Guilds' own projects, the receiver's path tokens, and the names that guilds give to webhooks. */
export function projectsTable(db: Database) {
  const ofGuild = db.prepare<[string], ProjectRow>(`SELECT ${COLUMNS} FROM projects WHERE guild_id = ?`);
  const all = db.prepare<[], ProjectRow>(`SELECT ${COLUMNS} FROM projects ORDER BY id`);
  const put = db.prepare<Omit<ProjectRow, 'scope'>, { scope: number }>(
    `INSERT INTO projects (guild_id, project_id, sealed, signed) VALUES (@guildId, @projectId, @sealed, @signed)
     ON CONFLICT (guild_id) DO UPDATE SET project_id = @projectId, sealed = @sealed, signed = @signed
     RETURNING id AS scope`,
  );
  const reseal = db.prepare<[Uint8Array, number, Uint8Array]>(
    'UPDATE projects SET sealed = ? WHERE id = ? AND sealed = ?',
  );
  const drop = db.prepare<[string], { scope: number }>('DELETE FROM projects WHERE guild_id = ? RETURNING id AS scope');
  const dropNames = db.prepare<[string]>('DELETE FROM webhook_names WHERE guild_id = ?');

  const tokens = db.prepare<[], Omit<ReceiverToken, 'retiring'> & { retiring: 0 | 1 }>(
    'SELECT token, scope, retiring FROM receiver_tokens ORDER BY scope, retiring DESC',
  );
  const addToken = db.prepare<[string, number]>(
    'INSERT INTO receiver_tokens (token, scope) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const current = db.prepare<[number], { token: string }>(
    'SELECT token FROM receiver_tokens WHERE scope = ? AND retiring = 0',
  );
  const retire = db.prepare<[number]>('UPDATE receiver_tokens SET retiring = 1 WHERE scope = ?');
  const retiring = db.prepare<[number], { token: string }>(
    'SELECT token FROM receiver_tokens WHERE scope = ? AND retiring = 1',
  );
  const revoke = db.prepare<[number]>('DELETE FROM receiver_tokens WHERE scope = ? AND retiring = 1');
  const dropTokens = db.prepare<[number]>('DELETE FROM receiver_tokens WHERE scope = ?');
  const dropUsage = db.prepare<[number]>('DELETE FROM scope_usage WHERE scope = ?');

  const names = db.prepare<[string], { id: string; name: string }>(
    'SELECT webhook_id AS id, name FROM webhook_names WHERE guild_id = ?',
  );
  const putName = db.prepare<[string, string, string]>(
    `INSERT INTO webhook_names (guild_id, webhook_id, name) VALUES (?, ?, ?)
     ON CONFLICT (guild_id, webhook_id) DO UPDATE SET name = excluded.name`,
  );
  const dropName = db.prepare<[string, string]>('DELETE FROM webhook_names WHERE guild_id = ? AND webhook_id = ?');

  const save = db.transaction((project: NewProject, token: string): number => {
    const { scope } = put.get({ ...project, signed: project.signed ? 1 : 0 })!;
    if (!current.get(scope)) addToken.run(token, scope);
    return scope;
  });
  const remove = db.transaction((guildId: string): boolean => {
    const dropped = drop.get(guildId);
    if (!dropped) return false;
    dropTokens.run(dropped.scope);
    dropUsage.run(dropped.scope);
    dropNames.run(guildId);
    return true;
  });
  const rotate = db.transaction((scope: number, token: string): boolean => {
    if (retiring.get(scope)) return false;
    retire.run(scope);
    addToken.run(token, scope);
    return true;
  });

  return {
    ofGuild(guildId: string): StoredProject | null {
      const row = ofGuild.get(guildId);
      return row ? toProject(row) : null;
    },
    all: (): StoredProject[] => all.all().map(toProject),
    scopes: (): Map<string, number> => new Map(all.all().map(({ guildId, scope }) => [guildId, scope])),
    save: (project: NewProject, token: string): number => save.immediate(project, token),
    reseal: ({ scope, sealed }: StoredProject, resealed: Uint8Array): void => void reseal.run(resealed, scope, sealed),
    remove: (guildId: string): boolean => remove.immediate(guildId),

    tokens: (): ReceiverToken[] => tokens.all().map((row) => ({ ...row, retiring: row.retiring === 1 })),
    addToken: (token: string, scope: number): void => void addToken.run(token, scope),
    rotateToken: (scope: number, token: string): boolean => rotate.immediate(scope, token),
    revokeToken: (scope: number): boolean => revoke.run(scope).changes > 0,

    webhookNames: (guildId: string): Map<string, string> =>
      new Map(names.all(guildId).map(({ id, name }) => [id, name])),
    nameWebhook(guildId: string, webhookId: string, name: string | null): void {
      if (name === null) dropName.run(guildId, webhookId);
      else putName.run(guildId, webhookId, name);
    },
  };
}
