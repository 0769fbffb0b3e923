import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A path token and whose events it receives. */
export interface PathToken {
  token: string;
  scope: number;
}

/** Finds the scope of a path token; null for an unknown one. */
export type ScopeOf = (given: string) => number | null;

/** Known to this process alone, so how long a look-up takes says nothing about a token. */
const KEY = randomBytes(32);
const hashOf = (token: string): Buffer => createHmac('sha256', KEY).update(token).digest();

/** Indexes path tokens by their hash: a look-up takes as long with ten thousand of them as with one. */
export function indexTokens(tokens: readonly PathToken[]): ScopeOf {
  const byHash = new Map<string, { hash: Buffer; scope: number }>();
  for (const { token, scope } of tokens) {
    const hash = hashOf(token);
    byHash.set(hash.toString('base64'), { hash, scope });
  }
  return (given) => {
    const hash = hashOf(given);
    const found = byHash.get(hash.toString('base64'));
    return found !== undefined && timingSafeEqual(found.hash, hash) ? found.scope : null;
  };
}
