import type { Manual, MetricRow } from './row.ts';

/** The metrics of deliveries, from the request to the router. */
export const RECEIVING = {
  received_total: {
    type: 'counter',
    help: 'Deliveries acknowledged with 200',
    alarm: 'no increase for longer than your addresses are ever quiet',
    means: 'deliveries acknowledged with 200: none arrive',
    todo: '`/setup check` in the server; check the rejections below, then the notification service',
  },
  refused_total: {
    type: 'counter',
    help: 'Requests that the receiver rejected',
    labels: ['reason'],
    alarm: 'see the reasons below',
    means: 'requests that did not get a 200',
    todo: 'see the reasons below',
  },
  inbox_commits_total: {
    type: 'counter',
    help: 'Commits of the receiver',
    alarm: 'never on its own',
    means: 'far fewer commits than deliveries means that deliveries share commits, which is expected',
    todo: 'nothing',
  },
  inbox_waiting: {
    type: 'gauge',
    help: 'Deliveries stored and not yet routed',
    alarm: 'above 10,000',
    means: 'deliveries are stored faster than they are routed',
    todo: 'check the age below; it catches up automatically',
    rules: [{ alert: 'LedgerbellInboxLarge', expr: 'ledgerbell_inbox_waiting > 10000', for: '5m' }],
  },
  inbox_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the oldest delivery that is not yet routed',
    alarm: 'above 60',
    means: 'routing is stuck: a full disk, a locked file',
    todo: 'check the log for `routing paused`; nothing is lost, the deliveries are on disk',
    rules: [{ alert: 'LedgerbellRoutingStuck', expr: 'ledgerbell_inbox_oldest_seconds > 60', for: '1m', page: true }],
  },
  routed_total: {
    type: 'counter',
    help: 'Deliveries routed',
    alarm: 'no increase while `ledgerbell_inbox_waiting` is above 0',
    means: 'the same',
    todo: 'the same',
  },
  quarantined: {
    type: 'gauge',
    help: 'Deliveries that could not be read',
    alarm: 'above 0',
    means: 'deliveries that could not be read, kept with their bytes',
    todo: 'see "Unreadable deliveries"',
    rules: [{ alert: 'LedgerbellQuarantine', expr: 'ledgerbell_quarantined > 0', for: '5m' }],
  },
  quarantined_bytes: {
    type: 'gauge',
    help: 'Bytes of the deliveries that could not be read',
    alarm: 'above 40,000,000, or 8,000 rows',
    means:
      'at 50 MB or 10,000 rows, new deliveries to the operator’s URL are rejected; at a tenth of that (5 MB or 1,000 rows), deliveries to the URL of one server’s own project, and to no other',
    todo: 'see "Unreadable deliveries", today',
    rules: [
      {
        alert: 'LedgerbellQuarantineAlmostFull',
        expr: 'ledgerbell_quarantined_bytes > 40e6 or ledgerbell_quarantined > 8000',
        page: true,
      },
    ],
  },
} as const satisfies Record<string, MetricRow>;

const rises = (reason: string, alert: string, page?: true) => [
  { alert, expr: `increase(ledgerbell_refused_total{reason="${reason}"}[10m]) > 0`, ...(page && { page }) },
];

/** The reasons for which the receiver rejects a request: values of the label `reason`. */
export const REASONS: Readonly<Record<string, Manual>> = {
  token: {
    alarm: 'rises steadily',
    means: 'someone is guessing, or a webhook still has an old URL',
    todo: 'compare the webhooks’ URLs with `/setup check`',
    rules: [
      {
        alert: 'LedgerbellUnknownUrl',
        expr: 'increase(ledgerbell_refused_total{reason="token"}[1h]) > 100',
      },
    ],
  },
  method: {
    alarm: 'never on its own',
    means: 'something other than a sender requested the URL',
    todo: 'nothing',
  },
  source: {
    alarm: 'rises',
    means:
      'deliveries come from an address that is not in `RECEIVER_SOURCES` (with `RECEIVER_SOURCE_CHECK=report` they are counted here and still accepted)',
    todo: 'the log and `/setup check` show the address. If it is the service’s, add it, or set `RECEIVER_SOURCE_CHECK=report`, before the retries end. If it is your own proxy’s, put it in `TRUSTED_PROXIES`; in `RECEIVER_SOURCES` it would let everybody in',
    rules: rises('source', 'LedgerbellUnknownSource'),
  },
  signature: {
    alarm: 'rises',
    means:
      'deliveries to a URL with a signing secret are unsigned, wrongly signed, or signed more than 5 minutes ago (401)',
    todo: '`/setup check` shows which. Compare the secret with the sender’s; if the time is wrong, check both clocks',
    rules: rises('signature', 'LedgerbellBadSignature'),
  },
  'too-large': {
    alarm: 'rises',
    means: 'a body above 1 MiB',
    todo: 'no genuine delivery is that large',
    rules: rises('too-large', 'LedgerbellBodyTooLarge'),
  },
  'broken-off': {
    alarm: 'rises',
    means: 'bodies that end early',
    todo: 'check the proxy, or the network in front of it',
    rules: rises('broken-off', 'LedgerbellBodyBrokenOff'),
  },
  connections: {
    alarm: 'rises',
    means:
      'more connections are open than the receiver takes: 10,000, or 128 fewer than the files that the process may open. A connection without complete headers is closed after 5 s',
    todo: 'raise `LimitNOFILE` in the unit; limit the connections of one address in the proxy or the firewall',
    rules: rises('connections', 'LedgerbellTooManyConnections'),
  },
  overload: {
    alarm: 'rises',
    means: 'more than 64 requests wait longer than 100 ms for their body, or longer than 1 s for the disk',
    todo: 'the disk or the processor is too slow; check what else the machine does',
    rules: rises('overload', 'LedgerbellOverload'),
  },
  busy: {
    alarm: 'rises',
    means: 'another program locks the database for more than 250 ms, its disk is full, or it fails',
    todo: 'see "When the disk is full"',
    rules: rises('busy', 'LedgerbellDatabaseBusy', true),
  },
  late: {
    alarm: 'rises',
    means: 'a commit or a body took longer than 2 s',
    todo: 'the disk is too slow: the log (`cannot store deliveries`) and `/readyz` show how long a sync takes',
    rules: rises('late', 'LedgerbellStoringTooSlow', true),
  },
  'quarantine-full': {
    alarm: 'rises',
    means: 'see `ledgerbell_quarantined_bytes`',
    todo: 'see "Unreadable deliveries"',
    rules: rises('quarantine-full', 'LedgerbellQuarantineFull', true),
  },
  rate: {
    alarm: 'rises for hours',
    means:
      'one server’s own URL gets more than `QUOTA_RATE` deliveries per second after a burst of `QUOTA_BURST` (the operator’s URL only with `OPERATOR_RATE`)',
    todo: 'nothing: other URLs are not affected and the sender retries. The server sees it in `/status` and `/setup check`. If its volume is genuine, raise the limit',
  },
  backlog: {
    alarm: 'rises for hours',
    means: 'more than `QUOTA_WAITING` deliveries or `QUOTA_WAITING_MB` of one server’s own URL wait to be routed',
    todo: 'the same',
  },
  daily: {
    alarm: 'rises',
    means: 'one server’s own URL stored `QUOTA_DAILY_MB` today; it takes deliveries again at midnight UTC',
    todo: 'the same',
  },
  'disk-reserve': {
    alarm: 'rises',
    means: 'less than `DISK_RESERVE_MB` of the database’s disk is free: only the operator’s URL still takes deliveries',
    todo: 'see "When the disk is full"',
    rules: rises('disk-reserve', 'LedgerbellDiskReserve', true),
  },
  closing: {
    alarm: 'once at a restart',
    means: 'the process is stopping',
    todo: 'nothing',
  },
};
