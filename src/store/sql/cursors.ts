import type { Cursor } from '../store.ts';

/** What the port's cursors contain, whatever engine they come from. */

/** How far deletion of old data has come, so that rows that stay are not checked twice. */
export type RetentionPosition =
  | { at: 'transfers'; scope: number; seenAt: number; id: number }
  | { at: 'batches'; frozenAt: number; id: number }
  | { at: 'knowledge' };

/** Where the deletion of old data begins. */
export const RETENTION_START = { at: 'transfers', scope: 0, seenAt: 0, id: 0 } as const satisfies RetentionPosition;

/** How far deletion of unmatched transfers has come. */
export interface UnmatchedPosition {
  scope: number;
  seenAt: number;
  id: number;
}

/** What an erasure goes through in steps, in this order: rows are deleted before the rows that they refer to. */
const ERASED_PARTS = ['alerts', 'batches', 'decisions', 'counterparties', 'audit', 'transfers', 'channels'] as const;

/** What one step of an erasure goes through. */
export type ErasedPart = (typeof ERASED_PARTS)[number];

/** How far an erasure has come: the part that is next, and the last ID that is done with there (0: none). */
export interface ErasurePosition {
  part: ErasedPart;
  after: number;
}

/** Where an erasure begins. */
export const ERASURE_START: ErasurePosition = { part: ERASED_PARTS[0], after: 0 };

/** Where an erasure goes on: behind `after` in the same part, or in the next one when that is done (`after` null). */
export function erasureAfter(part: ErasedPart, after: number | null): ErasurePosition | null {
  if (after !== null) return { part, after };
  const next = ERASED_PARTS[ERASED_PARTS.indexOf(part) + 1];
  return next === undefined ? null : { part: next, after: 0 };
}

/** What each kind of cursor contains. */
interface Positions {
  retention: RetentionPosition;
  unmatched: UnmatchedPosition;
  erasure: ErasurePosition;
}

/** The cursor that contains a position. */
export const toCursor = <Kind extends keyof Positions>(position: Positions[Kind] | null): Cursor<Kind> | null =>
  position as unknown as Cursor<Kind> | null;

/** The position that a cursor contains. */
export const positionOf = <Kind extends keyof Positions>(cursor: Cursor<Kind>): Positions[Kind] =>
  cursor as unknown as Positions[Kind];
