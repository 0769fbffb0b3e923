import { randomBytes } from 'node:crypto';
import type { ReceiverToken } from '../domain/project.ts';
import { readInOrder } from '../domain/read-in-order.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';
import { indexTokens } from './token-index.ts';

/** Where a scope's events must be sent; each URL ends in a secret. */
export interface ReceiverUrls {
  /** null: the scope has no URL. */
  current: string | null;
  /** The previous one, still valid until it is revoked. */
  retiring: string | null;
  /** Set in the environment: it cannot be changed from here. */
  fixed: boolean;
}

/** The receiver URLs of every scope. */
export interface ReceiverPaths {
  urls(scope: number): ReceiverUrls;
  /** Adds a new URL to a scope next to the current one; false while an older one still has to be revoked. */
  rotate(scope: number): Promise<boolean>;
  /** Revokes a scope's retiring URL; false when there is none. */
  revoke(scope: number): Promise<boolean>;
  /** Reads the tokens again, after something else changed them. */
  refresh(): Promise<void>;
}

/** 192 random bits, in characters that a path allows. */
export const makePathToken = (): string => randomBytes(24).toString('base64url');

/** Keeps the active path tokens in memory; creates the operator's if it is neither `fixed` nor stored. */
export async function openPathTokens(options: {
  store: Pick<Store, 'projects'>;
  /** The operator's token as the environment sets it. */
  fixed: string | undefined;
  /** The stored tokens were changed through this process. */
  onChanged?(): void;
}) {
  const { store, fixed, onChanged } = options;
  let tokens: readonly ReceiverToken[] = [];
  let scopeOf = indexTokens(tokens);

  function use(stored: readonly ReceiverToken[]): void {
    // A token in the environment replaces those in the database, which may have leaked.
    const others = stored.filter(({ scope }) => scope !== OPERATOR_SCOPE);
    tokens = fixed ? [{ token: fixed, scope: OPERATOR_SCOPE, retiring: false }, ...others] : stored;
    scopeOf = indexTokens(tokens);
  }

  // Otherwise a read that began before a URL was revoked could accept that URL again.
  const reread = readInOrder(() => store.projects.tokens(), use);

  async function refresh(): Promise<void> {
    onChanged?.();
    await reread();
  }

  await reread();
  if (!tokens.some(({ scope }) => scope === OPERATOR_SCOPE)) {
    await store.projects.addToken(makePathToken(), OPERATOR_SCOPE);
    await refresh();
  }

  return {
    /** Every active token. */
    tokens: () => tokens,
    /** The scope of an active token; null for any other text. */
    scopeOf: (given: string): number | null => scopeOf(given),
    isFixed: (scope: number): boolean => scope === OPERATOR_SCOPE && fixed !== undefined,
    /** Reads the tokens again, which other processes may have changed. */
    reread,
    /** Reads the tokens again, which were changed through this process. */
    refresh,
    async rotate(scope: number): Promise<boolean> {
      const isDone = await store.projects.rotateToken(scope, makePathToken());
      await refresh();
      return isDone;
    },
    async revoke(scope: number): Promise<boolean> {
      const isDone = await store.projects.revokeToken(scope);
      await refresh();
      return isDone;
    },
  };
}

/** The active path tokens. */
export type PathTokens = Awaited<ReturnType<typeof openPathTokens>>;

/** The path tokens as URLs below the receiver's public address. */
export function receiverPaths(paths: PathTokens, publicUrl: string): ReceiverPaths {
  const { tokens, isFixed, rotate, revoke, refresh } = paths;
  const urlOf = (scope: number, retiring: boolean): string | null => {
    const found = tokens().find((one) => one.scope === scope && one.retiring === retiring);
    return found ? `${publicUrl}/hooks/${found.token}` : null;
  };
  return {
    urls: (scope) => ({ current: urlOf(scope, false), retiring: urlOf(scope, true), fixed: isFixed(scope) }),
    rotate,
    revoke,
    refresh,
  };
}
