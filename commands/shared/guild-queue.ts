/**
 * Runs one guild's long works of one kind one after the other. One thread does them for all guilds, so the others must
 * not wait behind a guild that asks again and again.
 */
export interface GuildQueue {
  run<Result>(
    guildId: string,
    kind: 'read' | 'file' | 'erase' | 'webhook',
    work: () => Promise<Result>,
  ): Promise<Result>;
}

/** Makes a queue per guild and kind of work. */
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
