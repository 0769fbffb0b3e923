const last = new Map<string, Promise<unknown>>();

/**
 * Does a server's long work of one kind one after the other: a thread does it for all servers, and whoever asks again and
 * again must not fill that with work that all others wait behind.
 */
export function inTurn<Result>(guildId: string, work: () => Promise<Result>, kind = 'read'): Promise<Result> {
  const key = `${kind} ${guildId}`;
  const done = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, done);
  const leave = () => {
    if (last.get(key) === done) last.delete(key);
  };
  done.then(leave, leave);
  return done;
}
