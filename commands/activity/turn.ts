const last = new Map<string, Promise<unknown>>();

/**
 * Does a server's long reads one after the other: one thread reads for all servers, and whoever asks again and again
 * must not fill it with questions that all others wait behind.
 */
export function inTurn<Result>(guildId: string, read: () => Promise<Result>): Promise<Result> {
  const done = (last.get(guildId) ?? Promise.resolve()).then(read, read);
  last.set(guildId, done);
  const leave = () => {
    if (last.get(guildId) === done) last.delete(guildId);
  };
  done.then(leave, leave);
  return done;
}
