import type { StoredProject } from '../domain/project.ts';
import { readInOrder } from '../domain/read-in-order.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Seal } from '../secrets.ts';
import type { Store } from '../store/store.ts';
import type { NotificationOptions, WebhooksResult } from './notification.ts';
import { createProjectClients, type ProjectClient, type ProjectKeys } from './project-client.ts';

/**
 * What a guild may manage. `scope`: the one whose receiver URL it may see; null: no scope. `sealed`: the keys of its
 * stored project can no longer be read. `none`: it has no project and may not manage the operator's. `off`: the
 * notification service is not configured.
 */
export type ProjectAccess =
  | { status: 'ready'; own: boolean; scope: number; notification: ProjectClient }
  | { status: 'sealed'; own: true; scope: number }
  | { status: 'none'; own: false; scope: null }
  | { status: 'off'; own: boolean; scope: number | null };

/** The notification projects: the operator's, from the environment, and those stored by guilds. */
export interface Projects {
  /** Whether the notification service is configured. */
  enabled: boolean;
  /** Whether any guild may manage the operator's project. */
  hasOperators: boolean;
  /** The ID of the operator's project; null: not set. */
  operatorId: string | null;
  of(guildId: string): Promise<ProjectAccess>;
  /**
   * The secrets that sign a scope's deliveries, as of the last `readSigning`. null: no signature is needed; empty: none
   * can be read.
   */
  signingSecrets(scope: number): readonly string[] | null;
  /** Reads the signing secrets of all scopes; needed once before deliveries are received. */
  readSigning(): Promise<void>;
  /** A guild's own signing secrets; empty: it has none, or none can be read. */
  ownSigningSecrets(guildId: string): Promise<readonly string[]>;
  /** Checks with the service whether these keys are valid; null: the service is off. */
  check(keys: ProjectKeys, withinMs: number): Promise<WebhooksResult | null>;
  /** Makes a request with the operator's keys; null: the service is off or there are no keys. */
  probe: (() => Promise<unknown>) | null;
  /** Stores or replaces a guild's own project; returns its scope. */
  save(guildId: string, keys: ProjectKeys): Promise<number>;
  /** Removes a guild's own project and its receiver URLs; false when there is none. */
  remove(guildId: string): Promise<boolean>;
}

/** The keys in the form in which they are sealed. Older ones have no signing secrets. */
type Sealed = Omit<ProjectKeys, 'projectId'>;

/**
 * Reseals every stored project that an older key sealed; returns how many, and the guilds whose keys cannot be opened.
 */
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

/** Finds each guild's notification project: its own, or the operator's if the guild may manage that. */
export function createProjects(options: {
  store: Store;
  seal: Seal;
  /** Root of the service; undefined: the interface is off. */
  url: string | undefined;
  operator: ProjectKeys | null;
  /** The secrets that sign deliveries to the operator's URL; none: they need no signature. */
  operatorSigning?: readonly string[] | undefined;
  operatorGuildIds: readonly string[];
  now(): number;
  /** A path token for a new project. */
  newToken(): string;
  /** The path tokens changed. */
  onTokens(): Promise<void>;
  onResponse?: NotificationOptions['onResponse'];
  timeoutMs?: NotificationOptions['timeoutMs'];
}): Projects {
  const { store, seal, url, operator, operatorSigning, operatorGuildIds, now, newToken, onTokens } = options;
  const clientOf = createProjectClients(now, options);
  let signing = new Map<number, readonly string[]>();

  const keysOf = ({ sealed, guildId }: StoredProject): Sealed | null => {
    const opened = seal.open(sealed, guildId);
    return opened && (JSON.parse(opened.text) as Sealed);
  };

  function useSigning(projects: readonly StoredProject[]): void {
    const signed = projects.filter((project) => project.signed);
    signing = new Map(signed.map((project) => [project.scope, keysOf(project)?.signingSecrets ?? []]));
    if (operatorSigning) signing.set(OPERATOR_SCOPE, operatorSigning);
  }

  // Otherwise a read that began before a project was stored could accept its deliveries without a signature.
  const readSigning = readInOrder(() => store.projects.all(), useSigning);

  async function own(project: StoredProject): Promise<ProjectAccess> {
    const { scope, projectId } = project;
    if (!url) return { status: 'off', own: true, scope };
    const keys = keysOf(project);
    if (!keys) return { status: 'sealed', own: true, scope };
    return { status: 'ready', own: true, scope, notification: clientOf(url, { projectId, ...keys }) };
  }

  return {
    readSigning,
    signingSecrets: (scope) => signing.get(scope) ?? null,

    async ownSigningSecrets(guildId) {
      const stored = await store.projects.ofGuild(guildId);
      return (stored && keysOf(stored)?.signingSecrets) ?? [];
    },

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
      return { status: 'ready', own: false, scope: OPERATOR_SCOPE, notification: clientOf(url, operator) };
    },

    async check(keys, withinMs) {
      return url ? clientOf(url, keys).webhooks(withinMs) : null;
    },

    probe: url && operator ? () => clientOf(url, operator).webhooks() : null,

    async save(guildId, { projectId, ...keys }) {
      const sealed = seal.seal(JSON.stringify(keys satisfies Sealed), guildId);
      const project = { guildId, projectId, sealed, signed: Boolean(keys.signingSecrets?.length) };
      const scope = await store.projects.save(project, newToken());
      await Promise.all([onTokens(), readSigning()]);
      return scope;
    },

    async remove(guildId) {
      const removed = await store.projects.remove(guildId);
      await Promise.all([onTokens(), readSigning()]);
      return removed;
    },
  };
}
