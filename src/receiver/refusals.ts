import { QUOTA_REASONS } from '../domain/quota.ts';

/** Why a delivery was not stored in time; `busy`: the database was locked, its disk full, or it failed. */
const REFUSALS = ['overload', 'busy', 'late', 'closing', ...QUOTA_REASONS] as const;
export type Refusal = (typeof REFUSALS)[number];

/**
 * Why a request was refused; also the metrics' label. `broken-off`: its body ended before its announced length;
 * `connections`: its connection was closed, because there were too many.
 */
export const REFUSAL_REASONS = [
  'token',
  'method',
  'source',
  'signature',
  'too-large',
  'broken-off',
  'connections',
  ...REFUSALS,
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];
