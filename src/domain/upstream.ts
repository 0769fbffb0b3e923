export type UpstreamFailure =
  | { status: 'timeout' }
  | { status: 'unreachable' }
  /** 401 or 403. */
  | { status: 'forbidden' }
  /** 400, 404 or 422: the service does not accept the request. */
  | { status: 'rejected' }
  /** 429. */
  | { status: 'limited' }
  /** 5xx and every other status that is not a success. */
  | { status: 'broken'; code: number }
  /** A success with an invalid body, such as a proxy's page. */
  | { status: 'unreadable' };

/** Also the metrics' labels. */
export const FAILURE_REASONS = [
  'timeout',
  'unreachable',
  'forbidden',
  'rejected',
  'limited',
  'broken',
  'unreadable',
] as const satisfies UpstreamFailure['status'][];

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
