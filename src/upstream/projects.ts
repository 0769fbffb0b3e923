import type { StoredProject } from '../domain/project.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Seal } from '../secrets.ts';
import type { Store } from '../store/store.ts';
import type { Notification, WebhooksAnswer } from './notification.ts';

/** What a project is used with. */
export interface ProjectKeys {
  projectId: string;
  apiKey: string;
  apiSecret: string;
}

/**
 * What a guild may manage. `scope` is the one whose receiver URL it may see, null when that is none. `sealed`: it
 * stored a project whose keys cannot be read any more. `none`: it has none, and the operator's is managed elsewhere.
 * `off`: the notification service is not configured.
 */
export type ProjectAccess =
  | { status: 'ready'; own: boolean; scope: number; notification: Notification }
  | { status: 'sealed'; own: true; scope: number }
  | { status: 'none'; own: false; scope: null }
  | { status: 'off'; own: boolean; scope: number | null };

/** The notification projects: the operator's, from the environment, and those that guilds stored. */
export interface Projects {
  /** Whether the notification service is configured. */
  enabled: boolean;
  /** Whether guilds are named that may manage the operator's project. */
  hasOperators: boolean;
  /** The operator's project's; null when it is not set. */
  operatorId: string | null;
  of(guildId: string): Promise<ProjectAccess>;
  /** Asks the service whether it knows these keys; null when it is off. */
  check(keys: ProjectKeys, withinMs: number): Promise<WebhooksAnswer | null>;
  /** Stores or replaces a guild's own project and gives its scope. */
  save(guildId: string, userId: string, keys: ProjectKeys): Promise<number>;
  /** Removes a guild's own project and its receiver URLs; false when there is none. */
  remove(guildId: string): Promise<boolean>;
}

/** The keys as they are sealed. */
type Sealed = Pick<ProjectKeys, 'apiKey' | 'apiSecret'>;

/** Puts every stored project that an older key sealed under the present one; gives how many, and whose no key opens. */
export async function resealProjects(store: Store, seal: Seal): Promise<{ resealed: number; closed: string[] }> {
  let resealed = 0;
  const closed: string[] = [];
  for (const project of await store.projects.all()) {
    const opened = seal.open(project.sealed, project.guildId);
    if (opened === null) closed.push(project.guildId);
    if (!opened?.stale) continue;
    await store.projects.reseal(project, seal.seal(opened.text, project.guildId));
    resealed++;
  }
  return { resealed, closed };
}

/** Gives each guild its notification project: its own, else the operator's where it may manage that. */
export function createProjects(options: {
  store: Store;
  seal: Seal;
  /** Root of the service; undefined: it is off. */
  url: string | undefined;
  operator: ProjectKeys | null;
  operatorGuildIds: readonly string[];
  now(): number;
  /** A path token for a new project. */
  newToken(): string;
  /** The path tokens changed. */
  onTokens(): Promise<void>;
  timeoutMs?: number;
}): Projects {
  const timeout = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs };
  const { store, seal, url, operator, operatorGuildIds, now, newToken, onTokens } = options;

  /** The client of a project; loaded, with its schemas, when it is first needed. */
  async function clientOf(root: string, keys: ProjectKeys): Promise<Notification> {
    const { createNotification } = await import('./notification.ts');
    return createNotification({ url: root, ...keys, ...timeout });
  }

  async function own({ scope, guildId, projectId, sealed }: StoredProject): Promise<ProjectAccess> {
    if (!url) return { status: 'off', own: true, scope };
    const opened = seal.open(sealed, guildId);
    if (!opened) return { status: 'sealed', own: true, scope };
    const keys = JSON.parse(opened.text) as Sealed;
    return { status: 'ready', own: true, scope, notification: await clientOf(url, { projectId, ...keys }) };
  }

  return {
    enabled: Boolean(url),
    hasOperators: operatorGuildIds.length > 0,
    operatorId: operator?.projectId ?? null,

    async of(guildId) {
      const stored = await store.projects.ofGuild(guildId);
      if (stored) return own(stored);
      if (!operatorGuildIds.includes(guildId)) {
        return url ? { status: 'none', own: false, scope: null } : { status: 'off', own: false, scope: null };
      }
      if (!url || !operator) return { status: 'off', own: false, scope: OPERATOR_SCOPE };
      return { status: 'ready', own: false, scope: OPERATOR_SCOPE, notification: await clientOf(url, operator) };
    },

    async check(keys, withinMs) {
      return url ? (await clientOf(url, keys)).webhooks(withinMs) : null;
    },

    async save(guildId, userId, { projectId, apiKey, apiSecret }) {
      const sealed = seal.seal(JSON.stringify({ apiKey, apiSecret } satisfies Sealed), guildId);
      const scope = await store.projects.save({ guildId, projectId, sealed }, newToken(), userId, now());
      await onTokens();
      return scope;
    },

    async remove(guildId) {
      const removed = await store.projects.remove(guildId);
      await onTokens();
      return removed;
    },
  };
}
