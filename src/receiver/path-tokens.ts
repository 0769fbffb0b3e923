import { hash, randomBytes } from 'node:crypto';
import { readInOrder } from '../domain/clock.ts';
import { isOperatorScope, networkOfOperator } from '../domain/inbox.ts';
import { FIRST_NETWORK } from '../domain/network.ts';
import type { ReceiverToken } from '../domain/project.ts';
import type { Store } from '../store/store.ts';

export interface ReceiverUrls {
  current: string | null;
  /** Still valid until it is revoked. */
  retiring: string | null;
  /** Set in the environment: commands cannot change it. */
  fixed: boolean;
}

export interface ReceiverPaths extends Pick<PathTokens, 'rotate' | 'revoke' | 'refresh'> {
  urls(scope: number): ReceiverUrls;
}

/** Known to this process alone: the time that a lookup takes says nothing about a token that somebody guesses. */
const SALT = randomBytes(32).toString('base64');
const hashOf = (token: string): string => hash('sha256', SALT + token, 'base64');

/** 192 random bits, in characters that a path allows. */
export const makePathToken = (): string => randomBytes(24).toString('base64url');

/** Creates the operator's tokens that are neither `fixed` nor stored. */
export async function openPathTokens(options: {
  store: Pick<Store, 'projects'>;
  /** The operator's scope on each network, with its token if the environment sets it. */
  fixed: ReadonlyMap<number, string | undefined>;
}) {
  const { store, fixed } = options;
  let tokens: readonly ReceiverToken[] = [];
  let scopes = new Map<string, number>();
  let networks = new Map<number, number>();

  function use(stored: readonly ReceiverToken[]): void {
    // A token in the environment replaces those in the database, which may have leaked.
    const set = [...fixed].flatMap(([scope, token]) =>
      token === undefined ? [] : [{ token, scope, network: networkOfOperator(scope), retiring: false }],
    );
    // A token of a network that is no longer configured is not valid either.
    const isCurrent = ({ scope }: ReceiverToken) =>
      isOperatorScope(scope) ? fixed.has(scope) && fixed.get(scope) === undefined : true;
    tokens = [...set, ...stored.filter(isCurrent)];
    networks = new Map(tokens.map(({ scope, network }) => [scope, network]));
    scopes = new Map(tokens.map(({ token, scope }) => [hashOf(token), scope]));
  }

  // Otherwise a read that began before a URL was revoked could accept that URL again.
  const refresh = readInOrder(() => store.projects.tokens(), use);

  await refresh();
  const missing = [...fixed.keys()].filter((scope) => !tokens.some((token) => token.scope === scope));
  for (const scope of missing) await store.projects.addToken(makePathToken(), scope);
  if (missing.length > 0) await refresh();

  async function applied(change: Promise<boolean>): Promise<boolean> {
    const isDone = await change;
    await refresh();
    return isDone;
  }

  return {
    scopeOf: (given: string): number | null => scopes.get(hashOf(given)) ?? null,
    networkOf: (scope: number): number => networks.get(scope) ?? FIRST_NETWORK,
    urls(scope: number, publicUrl: string): ReceiverUrls {
      const urlOf = (retiring: boolean): string | null => {
        const found = tokens.find((token) => token.scope === scope && token.retiring === retiring);
        return found ? `${publicUrl}/hooks/${found.token}` : null;
      };
      return { current: urlOf(false), retiring: urlOf(true), fixed: fixed.get(scope) !== undefined };
    },
    refresh,
    /** false while an older token still has to be revoked. */
    rotate: (scope: number) => applied(store.projects.rotateToken(scope, makePathToken())),
    revoke: (scope: number) => applied(store.projects.revokeToken(scope)),
  };
}

export type PathTokens = Awaited<ReturnType<typeof openPathTokens>>;
