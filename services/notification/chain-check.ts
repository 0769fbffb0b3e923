import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { ChainIdentity } from '../chain/member.ts';
import type { Nodes } from '../chain/nodes.ts';
import { profileOf } from '../chain/profiles.ts';
import type { Parts } from './parts.ts';

export type ChainCheck = ReturnType<typeof createChainCheck>;

const CHECK_EVERY_MS = MINUTE;
const EXCLUDED_EVERY_MS = 10 * SECOND;
/** How often in a row a developer's chain must look different before it counts as started over. */
const SURE = 3;

export function createChainCheck({ node, store, clock, log }: Parts) {
  let nextAt = 0;
  let differing = 0;
  let refused: string | null = null;
  const excluded = new Set<string>();

  function useNodesOf(chain: ChainIdentity, found: readonly FoundNode[]): void {
    for (const { name, identity, exclude } of found) {
      if (isSame(identity, chain)) {
        exclude(null);
        excluded.delete(name);
        continue;
      }
      exclude(`another chain: ${nameOf(identity)}`);
      if (excluded.has(name)) continue;
      excluded.add(name);
      log.error(
        { node: name, chain: nameOf(identity), expected: nameOf(chain) },
        'a node follows another chain: it is not used',
      );
    }
    nextAt = clock.now() + (excluded.size > 0 ? EXCLUDED_EVERY_MS : CHECK_EVERY_MS);
  }

  /** @throws for any other chain than a developer's, and until it is sure. */
  function startOver(identity: ChainIdentity, known: ChainIdentity): { identity: ChainIdentity; startsOver: true } {
    differing++;
    // A developer's chain starts over under the same id; one wrong response is not yet a new chain.
    if (differing >= SURE && identity.chainId === known.chainId && profileOf(identity.chainId).isDevelopment) {
      log.warn({ chain: nameOf(identity) }, "the developer's chain started over: reading its newest blocks");
      differing = 0;
      return { identity, startsOver: true };
    }
    const message =
      `RPC_URL leads to another chain (${nameOf(identity)}) than the one of this DATA_DIR (${nameOf(known)}). ` +
      'Set RPC_URL to a node of that chain, or DATA_DIR to a new folder for this one';
    if (differing === SURE) log.error(message);
    if (differing >= SURE) refused = message;
    throw new Error(message);
  }

  return {
    /** null while it is still the file's chain. @throws when no node follows it; nodes that do not are excluded. */
    async check(): Promise<{ identity: ChainIdentity; startsOver: boolean } | null> {
      const known = store.chain.state();
      if (known !== undefined && clock.now() < nextAt) return null;
      const found = await node.identities();
      if (known === undefined) {
        const identity = mostNamed(found);
        useNodesOf(identity, found);
        return { identity, startsOver: false };
      }
      const fitting = found.find(({ identity }) => isSame(identity, known));
      if (fitting === undefined) return startOver(mostNamed(found), known);
      useNodesOf(known, found);
      differing = 0;
      refused = null;
      if (known.genesis === null) store.chain.identify(fitting.identity);
      return null;
    },
    recheck(): void {
      nextAt = 0;
    },
    /** null when it is not. */
    refused: () => refused,
  };
}

type FoundNode = Awaited<ReturnType<Nodes['identities']>>[number];

/** An unknown first block may be any. */
function isSame(a: ChainIdentity, b: ChainIdentity): boolean {
  const isKnown = a.genesis !== null && b.genesis !== null;
  return a.chainId === b.chainId && (!isKnown || a.genesis!.toLowerCase() === b.genesis!.toLowerCase());
}

function nameOf({ chainId, genesis }: ChainIdentity): string {
  return `id ${chainId}, first block ${genesis?.slice(0, 10) ?? 'unknown'}`;
}

function mostNamed(found: readonly FoundNode[]): ChainIdentity {
  const votes = ({ identity }: FoundNode) => found.filter((other) => isSame(identity, other.identity)).length;
  return found.toSorted((a, b) => votes(b) - votes(a))[0]!.identity;
}
