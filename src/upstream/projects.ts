import { hash } from 'node:crypto';
import { readInOrder } from '../domain/clock.ts';
import { operatorScope } from '../domain/inbox.ts';
import { FIRST_NETWORK } from '../domain/network.ts';
import type { StoredProject } from '../domain/project.ts';
import type { Seal } from '../secrets.ts';
import type { Store } from '../store/store.ts';
import { type ClientOptions, createCache } from './http.ts';
import { type AddressesResult, createNotification, type Notification, type WebhooksResult } from './notification.ts';

/**
 * `scope`: whose receiver URL the guild may see. `sealed`: the keys of its project can no longer be read. `none`: it
 * has no project and may not manage the operator's. `off`: the notification service is not configured.
 */
export type ProjectAccess =
  | { status: 'ready'; own: boolean; scope: number; notification: ProjectClient }
  | { status: 'sealed'; own: true; scope: number }
  | { status: 'none'; own: false; scope: null }
  | { status: 'off'; own: boolean; scope: number | null };

export type Projects = ReturnType<typeof createProjects>;

type Sealed = Omit<ProjectKeys, 'projectId'>;

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

/** null: they can no longer be read. */
function keysOf({ sealed, guildId }: StoredProject, seal: Seal): Sealed | null {
  const opened = seal.open(sealed, guildId);
  return opened && (JSON.parse(opened.text) as Sealed);
}

export type Signing = ReturnType<typeof createSigning>;

type Secrets = ReadonlyMap<number, readonly string[]>;

/** `operators`: the secrets of the operator's scopes whose deliveries are signed. */
export function createSigning({ projects }: Pick<Store, 'projects'>, seal: Seal, operators: Secrets) {
  const secrets = new Map<number, readonly string[]>();

  function use(stored: readonly StoredProject[]): void {
    const current = new Map(operators);
    for (const project of stored)
      if (project.signed) current.set(project.scope, keysOf(project, seal)?.signingSecrets ?? []);
    // Only now: if one of them could not be read, unsigned deliveries would be accepted at the others.
    secrets.clear();
    for (const [scope, own] of current) secrets.set(scope, own);
  }

  return {
    /** As of the last `read`, by scope; empty: none can be read. */
    secrets: secrets as Secrets,
    /** In order: otherwise a read that began before a project was stored could accept its deliveries without a signature. */
    read: readInOrder(() => projects.all(), use),
  };
}

export interface ProjectsOptions extends Omit<ClientOptions, 'url'> {
  store: Store;
  network?: number;
  seal: Seal;
  signing: Signing;
  /** Undefined: the interface is off. */
  url: string | undefined;
  operator: ProjectKeys | null;
  operatorGuildIds: readonly string[];
  now(): number;
  newToken(): string;
  onTokens(): Promise<void>;
}

/** The projects of one network: a guild has its own, or the operator's if it may manage that. */
export function createProjects(options: ProjectsOptions) {
  const { network = FIRST_NETWORK } = options;
  const operators = operatorScope(network);
  const { store, seal, signing, url, operator, operatorGuildIds, now, newToken, onTokens } = options;
  const clientOf = createProjectClients(now, options);

  async function own(project: StoredProject): Promise<ProjectAccess> {
    const { scope, projectId } = project;
    if (!url) return { status: 'off', own: true, scope };
    const keys = keysOf(project, seal);
    if (!keys) return { status: 'sealed', own: true, scope };
    return { status: 'ready', own: true, scope, notification: clientOf(url, { projectId, ...keys }) };
  }

  return {
    /** Whether its deliveries must be signed. */
    isSigned: (scope: number | null): boolean => scope !== null && signing.secrets.has(scope),

    /** Empty: the guild has none, or none can be read. */
    async ownSigningSecrets(guildId: string): Promise<readonly string[]> {
      const stored = await store.projects.ofGuild(guildId, network);
      return (stored && keysOf(stored, seal)?.signingSecrets) ?? [];
    },

    enabled: Boolean(url),
    hasOperators: operatorGuildIds.length > 0,
    operatorId: operator?.projectId ?? null,

    async accessOf(guildId: string): Promise<ProjectAccess> {
      const stored = await store.projects.ofGuild(guildId, network);
      if (stored) return own(stored);
      if (!operatorGuildIds.includes(guildId)) {
        return url ? { status: 'none', own: false, scope: null } : { status: 'off', own: false, scope: null };
      }
      if (!url || !operator) return { status: 'off', own: false, scope: operators };
      return { status: 'ready', own: false, scope: operators, notification: clientOf(url, operator) };
    },

    async check(keys: ProjectKeys, withinMs: number): Promise<WebhooksResult | null> {
      return url ? clientOf(url, keys).webhooks(withinMs) : null;
    },

    probe: url && operator ? () => clientOf(url, operator).webhooks() : null,

    async save(guildId: string, { projectId, ...keys }: ProjectKeys): Promise<number> {
      const sealed = seal.seal(JSON.stringify(keys satisfies Sealed), guildId);
      const project = { guildId, network, projectId, sealed, signed: Boolean(keys.signingSecrets?.length) };
      const scope = await store.projects.save(project, newToken());
      await Promise.all([onTokens(), signing.read()]);
      return scope;
    },

    async remove(guildId: string): Promise<boolean> {
      const removed = await store.projects.remove(guildId, network);
      await Promise.all([onTokens(), signing.read()]);
      return removed;
    },
  };
}

export interface ProjectKeys {
  projectId: string;
  apiKey: string;
  apiSecret: string;
  /** Two while they are rotated. None: deliveries need no signature. */
  signingSecrets?: readonly string[];
}

export interface ProjectClient extends Notification {
  /** A webhook's addresses, read at most 30 s ago and after the bot's last change. */
  knownAddresses(webhookId: string, withinMs: number): Promise<AddressesResult>;
}

/** People add several in a row. */
const ADDRESSES_CACHE_MS = 30_000;
const MAX_CACHED = 50;

/** All clients share one cache of addresses. */
function createProjectClients(now: () => number, { onResponse, timeoutMs }: Omit<ClientOptions, 'url'>) {
  const cached = createCache<AddressesResult>(MAX_CACHED, now);
  /** How often the bot changed webhooks. It is part of the cache's key, so that no outdated list is used. */
  let changes = 0;

  return (url: string, keys: ProjectKeys): ProjectClient => {
    const client = createNotification({ url, ...keys, onResponse, timeoutMs });
    // Hashed, so that the keys themselves stay in no cache.
    const keyOf = (webhookId: string) => hash('sha256', JSON.stringify([keys, webhookId]));
    const changing =
      <Result>(change: (webhookId: string, addresses: readonly string[]) => Promise<Result>) =>
      (webhookId: string, addresses: readonly string[]): Promise<Result> =>
        change(webhookId, addresses).finally(() => void changes++);
    return {
      ...client,
      addAddresses: changing(client.addAddresses),
      removeAddresses: changing(client.removeAddresses),
      knownAddresses(webhookId, withinMs) {
        return cached(`${changes} ${keyOf(webhookId)}`, {
          load: () => client.addresses(webhookId, withinMs),
          keepMs: ({ status }) => (status === 'ok' ? ADDRESSES_CACHE_MS : 0),
        });
      },
    };
  };
}
