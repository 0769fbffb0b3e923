import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { createBuckets } from '../../src/domain/token-bucket.ts';
import { UserError } from '../../src/errors.ts';
import { ago } from './reply.ts';
import type { ContextWith } from './services.ts';

const PERSON = { burst: 5, everyMs: 6 * SECOND };
const SERVER = { burst: 20, everyMs: 2 * SECOND };
/** Limit for everybody's lookups together: the rest of a service's capacity is for the scam checks. */
const ALL = { burst: 30, everyMs: SECOND };

/** Nobody's lookups after the service limited one: what it still takes is for the scam checks. */
const LIMITED_MS = MINUTE;

/** The services that people can query. */
type LookUp = 'explorer' | 'directory';

/** Limits how often people query other services. */
export interface CoolDown {
  /** Counts a lookup; returns who must wait and until when, or null. */
  take(of: LookUp, guildId: string, userId: string): { who: 'person' | 'server' | 'all'; until: number } | null;
  /** The service limits requests: nobody queries it for a minute. */
  limited(of: LookUp): void;
}

/** Creates the cool-downs: per person, per server, and for all together. */
export function createCoolDown(now: () => number): CoolDown {
  const person = createBuckets(PERSON);
  const server = createBuckets(SERVER);
  const all = createBuckets(ALL);
  const limitedAt = new Map<LookUp, number>();
  return {
    take(of, guildId, userId) {
      const at = now();
      const until = (limitedAt.get(of) ?? Number.NEGATIVE_INFINITY) + LIMITED_MS;
      if (at < until && until <= at + LIMITED_MS) return { who: 'all', until };
      const limits = [
        { who: 'person', buckets: person, key: `${of} ${userId}` },
        { who: 'server', buckets: server, key: `${of} ${guildId}` },
        { who: 'all', buckets: all, key: of },
      ] as const;
      for (const { who, buckets, key } of limits) {
        const wait = buckets.wait(key, at);
        if (wait > 0) return { who, until: at + wait };
      }
      for (const { buckets, key } of limits) buckets.take(key, at);
      return null;
    },
    limited: (of) => void limitedAt.set(of, now()),
  };
}

/** Counts a lookup; throws a {@link UserError} when the person or the server has to wait. */
export function countLookUp(
  of: LookUp,
  { guildId, user }: { guildId: string; user: { id: string } },
  { coolDown, own, isOutside }: ContextWith<'coolDown'>,
): void {
  const hold = coolDown.take(of, isOutside ? user.id : guildId, user.id);
  if (!hold) return;
  if (hold.who === 'all') throw new UserError(own('failure.limited', { service: own(`failure.${of}.name`) }));
  const due = ago(hold.until + SECOND);
  throw new UserError(own(hold.who === 'person' ? 'failure.coolDown' : 'failure.coolDownServer', { due }));
}
