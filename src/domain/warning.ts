import type { AddressText } from './address.ts';

/** What a line warns of, or what it is not sure of. */
export type Warning =
  /** `address` has the first and last digits of `like`, which is labelled here or dealt with lately. */
  | { kind: 'look-alike'; address: AddressText; like: AddressText; label: string | null }
  /** The token bears the symbol of a known one; `genuine` null: the native coin's. */
  | { kind: 'imitation'; symbol: string; genuine: AddressText | null }
  /** The explorer's catalogue does not have the token. */
  | { kind: 'uncataloged' }
  /** The explorer could not be asked whether its catalogue has the token. */
  | { kind: 'unchecked' }
  /** It came late, on a retry: events of later blocks had come so long before it. */
  | { kind: 'late'; ms: number }
  /** Its body names another project than the one whose receiver URL it came to. */
  | { kind: 'other-project'; projectId: string };
