import type { Manual, MetricRow } from './row.ts';

/** The metrics of the database, the disk, the other services and the process. */
export const MACHINE = {
  database_ready: {
    type: 'gauge',
    help: '1 while the database works, as in /readyz',
    alarm: '0 for 1 minute',
    means:
      'the part `database` of `/readyz` is not ready; `detail` there shows why. If the database does not respond, `/metrics` lacks what is counted in it (inbox, quarantine, outbox, dead letters, channels)',
    todo: 'see `database` in the table of `/readyz`',
    rules: [{ alert: 'LedgerbellDatabaseDown', expr: 'ledgerbell_database_ready == 0', for: '1m', page: true }],
  },
  working: {
    type: 'gauge',
    help: '1 while this process routes and sends; with several processes on Postgres, one of them does',
    alarm: 'the sum over all processes is not 1 for 1 minute',
    means: 'no process routes and sends: deliveries are stored and wait. Or two installations use the same database',
    todo: 'check that a process with `work` in its `ROLES` runs; `election` in its log shows why it does not work',
    rules: [{ alert: 'LedgerbellNobodyWorks', expr: 'sum(ledgerbell_working) != 1', for: '1m', page: true }],
  },
  elections_total: {
    type: 'counter',
    help: 'How often this process was elected to work, where several share a Postgres',
    alarm: 'more than 5 in 1 hour, over all processes',
    means:
      'processes lose their connection to Postgres or cannot begin to work, so that others take over again and again. Each time the gateway reconnects',
    todo: '`election` in the log shows why a process stopped working',
    rules: [{ alert: 'LedgerbellElections', expr: 'sum(increase(ledgerbell_elections_total[1h])) > 5' }],
  },
  last_sync_seconds: {
    type: 'gauge',
    help: 'How long the disk took for the last commit, or has taken for the current one',
    alarm: 'above 0.5 for 10 minutes',
    means: 'the disk is slow. A commit that takes longer than 2 s is rejected (`late`)',
    todo: 'check what else uses the disk',
    rules: [{ alert: 'LedgerbellDiskSlow', expr: 'ledgerbell_last_sync_seconds > 0.5', for: '10m' }],
  },
  file_bytes: {
    type: 'gauge',
    help: 'Sizes of files',
    labels: ['file'],
    alarm: '`file="wal"` above 256 MiB for an hour',
    means:
      '`database` and `wal` (the newest commits, next to it) are the database; `log` is there when the log goes to a file. A large `wal` means that something has been reading the database for a long time',
    todo: 'look for another program that has the database open, such as `sqlite3`, and stop it',
    rules: [{ alert: 'LedgerbellWalLarge', expr: 'ledgerbell_file_bytes{file="wal"} > 256 * 1024 * 1024', for: '1h' }],
  },
  disk_free_bytes: {
    type: 'gauge',
    help: 'Free space on the disk of the database',
    alarm: 'below 1 GB, or gone in a day at the rate of the last six hours',
    means: 'the disk fills up. Below `DISK_RESERVE_MB` only the operator’s URL takes deliveries',
    todo: 'see "When the disk is full"',
    rules: [
      {
        alert: 'LedgerbellDiskFilling',
        expr: 'ledgerbell_disk_free_bytes < 1e9 or predict_linear(ledgerbell_disk_free_bytes[6h], 86400) < 0',
        for: '30m',
      },
    ],
  },
  last_backup_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest backup was made; 0 when there is none',
    alarm: 'older than 26 hours, or 0 a day after the first start',
    means: 'the daily backup fails',
    todo: 'the log shows why (`daily backup failed`); most often the disk is full',
    rules: [
      {
        alert: 'LedgerbellBackupOld',
        expr: 'time() - (ledgerbell_last_backup_timestamp_seconds > 0) > 26 * 3600',
        for: '10m',
      },
      { alert: 'LedgerbellNoBackup', expr: 'ledgerbell_last_backup_timestamp_seconds == 0', for: '1d' },
    ],
  },
  interface_unavailable_seconds: {
    type: 'gauge',
    help: 'How long an interface has been down; 0 while it works',
    labels: ['interface'],
    alarm: 'above 600',
    means:
      'the `explorer`, `discovery` or `notification` interface does not work. Without the explorer, alerts warn that their token could not be checked; without discovery, `/provider` has no current data; without the notification service, `/webhook` does not work and deliveries may stop',
    todo: 'check that service, then `EXPLORER_API_URL`, `DISCOVERY_URL` or `NOTIFICATION_URL` and its keys. The bot asks again every minute',
    rules: [{ alert: 'LedgerbellInterfaceAway', expr: 'ledgerbell_interface_unavailable_seconds > 600' }],
  },
  interface_errors_total: {
    type: 'counter',
    help: 'Requests to an interface that failed',
    labels: ['interface', 'reason'],
    alarm: 'rises steadily',
    means:
      'requests to an interface fail, by `reason`: `timeout`, `unreachable`, `forbidden` (a wrong key), `rejected` (a wrong URL), `limited`, `broken` (an error status), `unreadable` (a proxy’s page)',
    todo: 'check that service, and its URL and keys in the environment',
    rules: [
      {
        alert: 'LedgerbellInterfaceErrors',
        expr: 'sum by (interface) (increase(ledgerbell_interface_errors_total[1h])) > 60',
      },
    ],
  },
  build_info: {
    type: 'gauge',
    help: 'Always 1; the labels show what runs',
    labels: ['version', 'schema', 'node'],
    alarm: 'never on its own',
    means: 'the versions of Ledgerbell, of its database schema and of Node',
    todo: 'nothing',
  },
} as const satisfies Record<string, MetricRow>;

/** Metrics of every process: their names and helps are the library's, and Prometheus's own. */
export const PROCESS: Readonly<Record<string, Manual>> = {
  up: {
    alarm: '0 for 2 minutes',
    means: 'Prometheus cannot read `/metrics`: the bot does not run, or its operations server cannot be reached',
    todo: 'see "When something is wrong"',
    rules: [{ alert: 'LedgerbellDown', expr: 'up{job="ledgerbell"} == 0', for: '2m', page: true }],
  },
  process_start_time_seconds: {
    alarm: 'more than 3 changes in an hour',
    means: 'the process restarts again and again',
    todo: 'the last lines of the log before each start show why',
    rules: [
      {
        alert: 'LedgerbellRestarts',
        expr: 'changes(process_start_time_seconds{job="ledgerbell"}[1h]) > 3',
      },
    ],
  },
  nodejs_eventloop_lag_p99_seconds: {
    alarm: 'above 0.5 for 10 minutes',
    means: 'the process is too busy, or the machine is: everything takes that much longer',
    todo: 'check what else the machine does, then the rate of deliveries',
    rules: [{ alert: 'LedgerbellBusy', expr: 'nodejs_eventloop_lag_p99_seconds{job="ledgerbell"} > 0.5', for: '10m' }],
  },
  process_open_fds: {
    alarm: 'above 80 % of `process_max_fds`',
    means: 'the process has almost as many files and connections open as it may',
    todo: 'raise `LimitNOFILE` in the unit; check who opens that many connections to the receiver',
    rules: [
      {
        alert: 'LedgerbellFilesAlmostUsedUp',
        expr: 'process_open_fds{job="ledgerbell"} / process_max_fds{job="ledgerbell"} > 0.8',
        for: '5m',
      },
    ],
  },
  process_resident_memory_bytes: {
    alarm: 'above the limit of your machine or container',
    means: 'the memory of the process; about 200 MB, and more under load',
    todo: 'if it keeps growing for days, report it',
  },
  process_cpu_seconds_total: {
    alarm: 'never on its own',
    means: 'the processor time of all threads; 1 second per second is one core',
    todo: 'nothing',
  },
};
