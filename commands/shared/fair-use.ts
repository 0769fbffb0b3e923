import type { InteractionContext } from '../../src/discord/command.ts';
import { createBuckets, SECOND } from '../../src/domain/clock.ts';
import type { Interface } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import { relativeTime } from './reply.ts';

const LIMITS = {
  /** Scam checks need the rest of what it accepts. */
  explorer: {
    person: { burst: 5, everyMs: 6 * SECOND },
    server: { burst: 20, everyMs: 2 * SECOND },
    all: { burst: 30, everyMs: SECOND },
  },
  discovery: {
    person: { burst: 20, everyMs: 2 * SECOND },
    server: { burst: 60, everyMs: SECOND },
    all: { burst: 120, everyMs: SECOND / 4 },
  },
};

type Queried = Extract<Interface, 'explorer' | 'discovery'>;

export interface Cooldown {
  take(service: Queried, guildId: string, userId: string): { who: 'person' | 'server' | 'all'; until: number } | null;
}

export function createCooldown(now: () => number): Cooldown {
  const limitsOf = (service: Queried) =>
    (['person', 'server', 'all'] as const).map((who) => ({ who, buckets: createBuckets(LIMITS[service][who]) }));
  const services = { explorer: limitsOf('explorer'), discovery: limitsOf('discovery') };
  return {
    take(service, guildId, userId) {
      const at = now();
      const keys = { person: userId, server: guildId, all: '' };
      for (const { who, buckets } of services[service]) {
        const wait = buckets.wait(keys[who], at);
        if (wait > 0) return { who, until: at + wait };
      }
      for (const { who, buckets } of services[service]) buckets.take(keys[who], at);
      return null;
    },
  };
}

/** Throws a {@link UserError} when the person or the server has to wait. */
export function countLookUp(service: Queried, context: InteractionContext & { cooldown: Cooldown }): void {
  const { guildId, interaction, cooldown, own, isOutside } = context;
  const { user } = interaction;
  const wait = cooldown.take(service, isOutside ? user.id : guildId, user.id);
  if (!wait) return;
  if (wait.who === 'all') throw new UserError(own('failure.limited', { service: own(`failure.${service}.name`) }));
  const due = relativeTime(wait.until + SECOND);
  throw new UserError(own(wait.who === 'person' ? 'failure.cooldown' : 'failure.cooldownServer', { due }));
}

/** One guild's slow jobs of one kind run one at a time: one thread does them for all guilds. */
export interface GuildQueue {
  run<Result>(
    guildId: string,
    kind: 'read' | 'file' | 'erase' | 'webhook',
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function createGuildQueue(): GuildQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(guildId, kind, work) {
      const key = `${kind} ${guildId}`;
      const done = (last.get(key) ?? Promise.resolve()).then(work, work);
      last.set(key, done);
      const leave = () => {
        if (last.get(key) === done) last.delete(key);
      };
      done.then(leave, leave);
      return done;
    },
  };
}
