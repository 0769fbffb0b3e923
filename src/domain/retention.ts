/** How far deletion of old data has come, so that rows that stay are not checked twice. */
export type RetentionCursor =
  | { at: 'transfers'; scope: number; seenAt: number; id: number }
  | { at: 'batches'; frozenAt: number; id: number }
  | { at: 'knowledge' };

/** How far deletion of unmatched transfers has come. */
export interface UnmatchedCursor {
  scope: number;
  seenAt: number;
  id: number;
}

/** How far an erasure has come: the next table, and from which row on. */
export interface ErasureCursor {
  at: number;
  after: number;
}
