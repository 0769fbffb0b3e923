/**
 * Why nobody can deliver to the public address. `untrusted`, `expired`, `wrong-name`: its certificate. `no-tls`: the
 * server there does not support TLS. `away`: any other reason.
 */
export const UNREACHABLE = [
  'dns',
  'refused',
  'timeout',
  'untrusted',
  'expired',
  'wrong-name',
  'no-tls',
  'away',
] as const;

/** Whether the receiver responds at its public address; `other`: something else does, with this status code. */
export type Reachability =
  | { status: 'reachable' }
  | { status: 'other'; code: number }
  | { status: (typeof UNREACHABLE)[number] };
