import type { AddressText } from './address.ts';

/** What an alert warns of, or what is uncertain about it. */
export type Warning =
  /** `address` has the first and last digits of `like`, which is labeled here or a recent counterparty. */
  | { kind: 'look-alike'; address: AddressText; like: AddressText; label: string | null }
  /** The token copies the symbol of a known one; `genuine` null: the native coin's. */
  | { kind: 'imitation'; symbol: string; genuine: AddressText | null }
  /** The explorer's catalog does not list the token. */
  | { kind: 'uncataloged' }
  /** The explorer could not be asked whether its catalog lists the token. */
  | { kind: 'unchecked' }
  /** It arrived late, on a retry; `ms`: how long after events of later blocks. */
  | { kind: 'late'; ms: number }
  /** Its body names a different project than the one whose receiver URL it arrived at. */
  | { kind: 'other-project'; projectId: string };
