/** Why a service did not do what was asked, in the words that people need to act on it. */
export type UpstreamFailure =
  | { status: 'timeout' }
  | { status: 'unreachable' }
  /** 401 or 403. */
  | { status: 'forbidden' }
  /** 400, 404 or 422: the service does not accept the request. */
  | { status: 'rejected' }
  /** 429. */
  | { status: 'limited' }
  /** 5xx and everything else that is no success. */
  | { status: 'broken'; code: number }
  /** A success whose body makes no sense, such as a proxy's page. */
  | { status: 'unreadable' };
