import { hash, randomBytes } from 'node:crypto';

/** A path token and whose events it receives. */
export interface PathToken {
  token: string;
  scope: number;
}

/** Finds the scope of a path token; null for an unknown one. */
export type ScopeOf = (given: string) => number | null;

/**
 * Known to this process alone: nobody can choose a token whose hash begins like that of another, so how long a lookup
 * takes says nothing about a token.
 */
const SALT = randomBytes(32).toString('base64');
const hashOf = (token: string): string => hash('sha256', SALT + token, 'base64');

/** Indexes path tokens by their hash: a lookup takes as long with ten thousand of them as with one. */
export function indexTokens(tokens: readonly PathToken[]): ScopeOf {
  const byHash = new Map(tokens.map(({ token, scope }) => [hashOf(token), scope]));
  return (given) => byHash.get(hashOf(given)) ?? null;
}
