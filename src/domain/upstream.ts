/** Also the metrics' labels. */
export const FAILURE_REASONS = [
  'timeout',
  'unreachable',
  // 401 or 403.
  'forbidden',
  // 400, 404 or 422: the service does not accept the request.
  'rejected',
  // 429.
  'limited',
  // 5xx and every other status that is not a success.
  'broken',
  // A success with an invalid body, such as a proxy's page.
  'unreadable',
] as const;

type FailureReason = (typeof FAILURE_REASONS)[number];
export type UpstreamFailure = { status: Exclude<FailureReason, 'broken'> } | { status: 'broken'; code: number };

/** The variable of each interface's root. */
export const ROOTS = {
  notification: 'NOTIFICATION_URL',
  explorer: 'EXPLORER_API_URL',
  discovery: 'DISCOVERY_URL',
  prices: 'PRICES_URL',
} as const;
export type Interface = keyof typeof ROOTS;
export const INTERFACES = Object.keys(ROOTS) as Interface[];

export interface Outage {
  since: number;
  failure: UpstreamFailure;
}
