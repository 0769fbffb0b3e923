/** How far forgetting has come: what stays, however old, is not looked at twice. */
export type RetentionCursor =
  | { at: 'transfers'; scope: number; seenAt: number; id: number }
  | { at: 'batches'; frozenAt: number; id: number }
  | { at: 'knowledge' };

/** How far forgetting unmatched transfers has come. */
export interface UnmatchedCursor {
  scope: number;
  seenAt: number;
  id: number;
}

/** How far erasing has come: what is looked through next, from which row on. */
export interface ErasureCursor {
  at: number;
  after: number;
}
