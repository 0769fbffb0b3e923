const last = new Map<string, Promise<unknown>>();

/**
 * Does a guild's long works of one kind one after the other. One thread does them for all guilds: whoever asks again
 * and again must not have everybody else wait behind all of that.
 */
export function queueForGuild<Result>(guildId: string, work: () => Promise<Result>, kind = 'read'): Promise<Result> {
  const key = `${kind} ${guildId}`;
  const done = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, done);
  const leave = () => {
    if (last.get(key) === done) last.delete(key);
  };
  done.then(leave, leave);
  return done;
}
