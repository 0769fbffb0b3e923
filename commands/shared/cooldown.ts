import type { InteractionContext } from '../../src/discord/command.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { createBuckets } from '../../src/domain/token-bucket.ts';
import type { Interface } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import { relativeTime } from './reply.ts';

/** How many lookups a person, a server and everybody together can make at once, and how often one more. */
const PERSON = { burst: 5, everyMs: 6 * SECOND };
const SERVER = { burst: 20, everyMs: 2 * SECOND };
/** Scam checks need the rest of what the explorer accepts. */
const ALL = { burst: 30, everyMs: SECOND };

/** How long nobody can make a lookup after the explorer rate-limited one: scam checks need what it still accepts. */
const LIMITED_MS = MINUTE;

/** The services that people can query. */
type Queried = Extract<Interface, 'explorer' | 'discovery'>;

/** Limits how often people query other services. */
export interface Cooldown {
  /** Counts a lookup; returns who must wait and until when, or null. */
  take(service: Queried, guildId: string, userId: string): { who: 'person' | 'server' | 'all'; until: number } | null;
  /** Records that the service rate-limits requests: nobody queries it for a minute. */
  limited(service: Queried): void;
}

/** Creates the cooldowns: per person, per server, and for all together. */
export function createCooldown(now: () => number): Cooldown {
  const person = createBuckets(PERSON);
  const server = createBuckets(SERVER);
  const all = createBuckets(ALL);
  const limitedAt = new Map<Queried, number>();
  return {
    take(service, guildId, userId) {
      const at = now();
      const until = (limitedAt.get(service) ?? Number.NEGATIVE_INFINITY) + LIMITED_MS;
      if (at < until && until <= at + LIMITED_MS) return { who: 'all', until };
      const limits = [
        { who: 'person', buckets: person, key: `${service} ${userId}` },
        { who: 'server', buckets: server, key: `${service} ${guildId}` },
        { who: 'all', buckets: all, key: service },
      ] as const;
      for (const { who, buckets, key } of limits) {
        const wait = buckets.wait(key, at);
        if (wait > 0) return { who, until: at + wait };
      }
      for (const { buckets, key } of limits) buckets.take(key, at);
      return null;
    },
    limited: (service) => void limitedAt.set(service, now()),
  };
}

/** Counts a lookup; throws a {@link UserError} when the person or the server has to wait. */
export function countLookUp(
  service: Queried,
  { guildId, user }: { guildId: string; user: { id: string } },
  { cooldown, own, isOutside }: InteractionContext & { cooldown: Cooldown },
): void {
  const hold = cooldown.take(service, isOutside ? user.id : guildId, user.id);
  if (!hold) return;
  if (hold.who === 'all') throw new UserError(own('failure.limited', { service: own(`failure.${service}.name`) }));
  const due = relativeTime(hold.until + SECOND);
  throw new UserError(own(hold.who === 'person' ? 'failure.cooldown' : 'failure.cooldownServer', { due }));
}
