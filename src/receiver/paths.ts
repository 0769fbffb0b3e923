import { randomBytes } from 'node:crypto';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';
import type { PathToken } from './server.ts';

/** Where a scope's events must be sent; each address ends in a secret. */
export interface ReceiverUrls {
  /** null when the scope has none (any more). */
  current: string | null;
  /** The one before, still valid until it is revoked. */
  retiring: string | null;
  /** Set in the environment: it cannot be changed from here. */
  fixed: boolean;
}

/** The receiver's addresses of every scope. */
export interface ReceiverPaths {
  urls(scope: number): ReceiverUrls;
  /** Gives a scope a new address beside the present one; false while an older one is still to be revoked. */
  rotate(scope: number): Promise<boolean>;
  /** Ends a scope's retiring address; false when there is none. */
  revoke(scope: number): Promise<boolean>;
  /** Reads the tokens anew, after something else changed them. */
  refresh(): Promise<void>;
}

/** 192 random bits, as a path takes them. */
export const makePathToken = (): string => randomBytes(24).toString('base64url');

/** Keeps the active path tokens in memory; the operator's is made when neither `fixed` nor stored. */
export async function openPaths(options: {
  store: Store;
  /** The operator's token as the environment sets it. */
  fixed: string | undefined;
  now(): number;
  publicUrl(): string;
}): Promise<ReceiverPaths & { tokens(): readonly PathToken[] }> {
  const { store, fixed, now, publicUrl } = options;
  let tokens: (PathToken & { retiring: boolean })[] = [];

  async function refresh(): Promise<void> {
    const stored = await store.projects.tokens();
    // A token in the environment replaces those in the database, which the operator may want to be rid of.
    tokens = fixed
      ? [
          { token: fixed, scope: OPERATOR_SCOPE, retiring: false },
          ...stored.filter(({ scope }) => scope !== OPERATOR_SCOPE),
        ]
      : stored;
  }

  await refresh();
  if (!tokens.some(({ scope }) => scope === OPERATOR_SCOPE)) {
    await store.projects.addToken(makePathToken(), OPERATOR_SCOPE, now());
    await refresh();
  }

  return {
    tokens: () => tokens,
    refresh,
    urls(scope) {
      const find = (retiring: boolean) => {
        const found = tokens.find((one) => one.scope === scope && one.retiring === retiring);
        return found ? `${publicUrl()}/hooks/${found.token}` : null;
      };
      return {
        current: find(false),
        retiring: find(true),
        fixed: scope === OPERATOR_SCOPE && fixed !== undefined,
      };
    },
    async rotate(scope) {
      const done = await store.projects.rotateToken(scope, makePathToken(), now());
      await refresh();
      return done;
    },
    async revoke(scope) {
      const done = await store.projects.revokeToken(scope);
      await refresh();
      return done;
    },
  };
}
