import type { Database } from 'better-sqlite3';
import { type Notice, noticeWriter } from './notices.ts';

/** Pointing out silence in the channels that asked for it. */
export function silenceTable(db: Database) {
  const notices = noticeWriter(db);
  const mark = db.prepare<[number, number]>(
    'UPDATE rhythms SET silence_told_at = ? WHERE subscription_id = ? AND silence_told_at IS NULL',
  );
  const tell = db.transaction((notice: Notice, subscriptions: number[]) => {
    const marked = subscriptions.filter((id) => mark.run(notice.now, id).changes === 1);
    if (marked.length > 0) notices.write(notice);
    return marked.length > 0;
  });
  return {
    /** Writes a notice about these subscriptions, unless their present silence was told; the next event ends it. */
    tell: (notice: Notice, subscriptions: number[]): boolean => tell.immediate(notice, subscriptions),
  };
}
