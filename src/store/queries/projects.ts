import { networkOfOperator, operatorScope } from '../../domain/inbox.ts';
import { FIRST_NETWORK } from '../../domain/network.ts';
import type { StoredProject } from '../../domain/project.ts';
import { insertAll, type QueriesOf, raw, read, remove, report, type Sql, update, write } from '../sql.ts';
import type { Projects } from '../store.ts';
import { scopesIn } from './inbox.ts';
import { META_KEYS, putValue, valueAt } from './meta.ts';

const SELECT = raw('SELECT id AS scope, guild_id, network, project_id, sealed, signed AS signed_flag FROM projects');

export const projects: QueriesOf<Projects> = {
  firstNetwork: write(async (sql, chainId) => {
    const known = await valueAt(sql, META_KEYS.firstNetwork);
    if (known !== null) return Number(known);
    await putValue(sql, META_KEYS.firstNetwork, String(chainId));
    return chainId;
  }),

  ofGuild: report(
    async (sql, guildId, network = FIRST_NETWORK) =>
      (await sql.get<StoredProject>`${SELECT} WHERE guild_id = ${guildId} AND network = ${network}`) ?? null,
  ),

  all: read((sql) => sql.all`${SELECT} ORDER BY id`),

  save: write(async (sql, { guildId, network = FIRST_NETWORK, projectId, sealed, signed = false }, token) => {
    const saved = { guildId, network, projectId, sealed, signed };
    const rows = await insertAll<{ id: number }>(sql, 'projects', [saved], {
      key: 'guild_id, network',
      rest: 'RETURNING id',
    });
    const [{ id: scope }] = rows as [{ id: number }];
    const current = await sql.get`SELECT 1 AS found FROM receiver_tokens WHERE scope = ${scope} AND retiring = 0`;
    if (!current) await addToken(sql, token, scope);
    return scope;
  }),

  reseal: write(async (sql, { scope, sealed }, resealed) => {
    await update(sql, 'projects', { id: scope, sealed }, { sealed: resealed });
  }),

  remove: write(async (sql, guildId, network = FIRST_NETWORK) => {
    const scope = await sql.value<number>`
      DELETE FROM projects WHERE guild_id = ${guildId} AND network = ${network} RETURNING id`;
    if (scope === null) return false;
    for (const table of ['receiver_tokens', 'scope_usage']) await remove(sql, table, { scope });
    for (const table of ['webhook_names', 'chosen_webhooks']) await remove(sql, table, { guildId, network });
    return true;
  }),

  tokens: read(
    (sql) =>
      sql.all`
        SELECT token, scope, coalesce(network, -scope) AS network, retiring AS retiring_flag
        FROM receiver_tokens LEFT JOIN projects ON id = scope ORDER BY scope, retiring DESC`,
  ),

  addToken: write(addToken),

  rotateToken: write(async (sql, scope, token) => {
    if (await sql.get`SELECT 1 AS found FROM receiver_tokens WHERE scope = ${scope} AND retiring = 1`) return false;
    await update(sql, 'receiver_tokens', { scope }, { retiring: true });
    await addToken(sql, token, scope);
    return true;
  }),

  revokeToken: write(async (sql, scope) => (await remove(sql, 'receiver_tokens', { scope, retiring: true })) > 0),

  chosenWebhook: report(
    (sql, guildId, network) =>
      sql.value`SELECT webhook_id FROM chosen_webhooks WHERE guild_id = ${guildId} AND network = ${network}`,
  ),

  chooseWebhook: write(async (sql, guildId, network, webhookId) => {
    await remove(sql, 'chosen_webhooks', { guildId, network });
    if (webhookId !== null) await insertAll(sql, 'chosen_webhooks', [{ guildId, network, webhookId }]);
  }),

  webhookNames: report(async (sql, guildId, network) => {
    const all = await sql.all<{ id: string; name: string }>`
      SELECT webhook_id AS id, name FROM webhook_names WHERE guild_id = ${guildId} AND network = ${network}`;
    return new Map(all.map(({ id, name }) => [id, name]));
  }),

  nameWebhook: write(async (sql, guildId, network, webhookId, name) => {
    await remove(sql, 'webhook_names', { guildId, network, webhookId });
    if (name !== null) await insertAll(sql, 'webhook_names', [{ guildId, network, webhookId, name }]);
  }),
};

async function addToken(sql: Sql, token: string, scope: number): Promise<void> {
  await insertAll(sql, 'receiver_tokens', [{ token, scope }], { rest: 'ON CONFLICT DO NOTHING' });
}

/**
 * On each network its own project's, or else the operator's. `network` null: on all networks where the guild has a
 * project or the operator's project ever brought anything.
 */
export async function scopesOf(sql: Sql, guildId: string, network: number | null): Promise<number[]> {
  const own = await sql.all<{ network: number; scope: number }>`
    SELECT network, id AS scope FROM projects WHERE guild_id = ${guildId}`;
  const scopes = new Map(own.map((project) => [project.network, project.scope]));
  if (network !== null) return [scopes.get(network) ?? operatorScope(network)];
  for (const scope of await scopesIn(sql, 'transfers', operatorScope(FIRST_NETWORK))) {
    if (!scopes.has(networkOfOperator(scope))) scopes.set(networkOfOperator(scope), scope);
  }
  return [...scopes.values()];
}
