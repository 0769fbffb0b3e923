/**
 * Runs one guild's slow jobs of one kind one at a time. One thread does them for all guilds, so a guild that asks
 * repeatedly must not make the others wait.
 */
export interface GuildQueue {
  run<Result>(
    guildId: string,
    kind: 'read' | 'file' | 'erase' | 'webhook',
    work: () => Promise<Result>,
  ): Promise<Result>;
}

/** Creates a queue per guild and kind of job. */
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
