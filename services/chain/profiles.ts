import type { TraceHabits } from './traces.ts';

/** What is special about a chain, recognized by its chain id. */
export interface Profile {
  name: string;
  traces: TraceHabits;
  /** true: a chain of a developer, which may start over under the same id. */
  isDevelopment: boolean;
  /** true: logs may belong to a transaction that the block does not list. */
  hasUnlistedLogs: boolean;
}

const ORDINARY: Profile = { name: 'ordinary', traces: {}, isDevelopment: false, hasUnlistedLogs: false };

const PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  '1337': { name: 'development', isDevelopment: true },
  '31337': { name: 'development', isDevelopment: true },
};

/** Returns the profile of a chain; `chainId` in decimal. */
export function profileOf(chainId: string): Profile {
  return { ...ORDINARY, ...PROFILES[chainId] };
}
