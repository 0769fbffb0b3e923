/** A panel of the dashboard. `about`: the metric whose entry in the manual it shows, and whose limit it draws. */
export interface Panel {
  title: string;
  about: string;
  /** Grafana's name of a unit. */
  unit: string;
  /** What is drawn: a query and its legend. */
  targets: readonly (readonly [expr: string, legend: string])[];
  /** A single value instead of a graph. */
  stat?: true;
}

/** Panels below a heading: `each` of the 24 columns wide and `height` rows high. */
interface Section {
  title: string;
  each: number;
  height: number;
  panels: readonly Panel[];
}

const SHORT = 'short';
const SECONDS = 's';

const delay = (quantile: number, range: string) =>
  `histogram_quantile(${quantile}, sum by (le) (rate(ledgerbell_message_delay_seconds_bucket[${range}])))`;

/** The dashboard, from top to bottom; each metric of the bot is in one of its panels. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'At a glance',
    each: 4,
    height: 4,
    panels: [
      { title: 'Reachable', about: 'up', unit: 'bool_yes_no', stat: true, targets: [['up{job="ledgerbell"}', 'up']] },
      {
        title: 'Alarms',
        about: '',
        unit: SHORT,
        stat: true,
        targets: [['count(ALERTS{alertstate="firing",alertname=~"Ledgerbell.*"}) or vector(0)', 'firing']],
      },
      {
        title: 'Deliveries in 24 h',
        about: 'ledgerbell_received_total',
        unit: SHORT,
        stat: true,
        targets: [['increase(ledgerbell_received_total[24h])', 'received']],
      },
      {
        title: 'Alerts posted in 24 h',
        about: 'ledgerbell_alerts_posted_total',
        unit: SHORT,
        stat: true,
        targets: [['increase(ledgerbell_alerts_posted_total[24h])', 'posted']],
      },
      {
        title: '95 % posted within',
        about: 'ledgerbell_message_delay_seconds',
        unit: SECONDS,
        stat: true,
        targets: [[delay(0.95, '1h'), 'p95']],
      },
      {
        title: 'Version',
        about: 'ledgerbell_build_info',
        unit: 'string',
        stat: true,
        targets: [['ledgerbell_build_info', '{{version}} (schema {{schema}}, Node {{node}})']],
      },
    ],
  },
  {
    title: 'Receiving and routing',
    each: 8,
    height: 8,
    panels: [
      {
        title: 'Deliveries per second',
        about: 'ledgerbell_received_total',
        unit: 'reqps',
        targets: [
          ['rate(ledgerbell_received_total[5m])', 'received'],
          ['rate(ledgerbell_routed_total[5m])', 'routed'],
          ['rate(ledgerbell_inbox_commits_total[5m])', 'commits'],
        ],
      },
      {
        title: 'Rejections per second',
        about: 'ledgerbell_refused_total',
        unit: 'reqps',
        targets: [['sum by (reason) (rate(ledgerbell_refused_total[5m])) > 0', '{{reason}}']],
      },
      {
        title: 'Deliveries waiting to be routed',
        about: 'ledgerbell_inbox_waiting',
        unit: SHORT,
        targets: [['ledgerbell_inbox_waiting', 'waiting']],
      },
      {
        title: 'Age of the oldest one',
        about: 'ledgerbell_inbox_oldest_seconds',
        unit: SECONDS,
        targets: [['ledgerbell_inbox_oldest_seconds', 'oldest']],
      },
      {
        title: 'Unreadable deliveries',
        about: 'ledgerbell_quarantined',
        unit: SHORT,
        targets: [['ledgerbell_quarantined', 'rows']],
      },
      {
        title: 'Bytes of unreadable deliveries',
        about: 'ledgerbell_quarantined_bytes',
        unit: 'bytes',
        targets: [['ledgerbell_quarantined_bytes', 'bytes']],
      },
    ],
  },
  {
    title: 'Sending',
    each: 8,
    height: 8,
    panels: [
      {
        title: 'Messages per minute',
        about: 'ledgerbell_messages_sent_total',
        unit: SHORT,
        targets: [
          ['sum by (kind) (rate(ledgerbell_messages_sent_total[5m])) * 60', '{{kind}}'],
          ['rate(ledgerbell_alerts_posted_total[5m]) * 60', 'alerts in them'],
        ],
      },
      {
        title: 'From received to posted',
        about: 'ledgerbell_message_delay_seconds',
        unit: SECONDS,
        targets: [
          [delay(0.5, '5m'), 'p50'],
          [delay(0.95, '5m'), 'p95'],
          [delay(0.99, '5m'), 'p99'],
        ],
      },
      {
        title: 'Attempts per minute, by Discord’s response',
        about: 'ledgerbell_discord_attempts_total',
        unit: SHORT,
        targets: [['sum by (outcome) (rate(ledgerbell_discord_attempts_total[5m])) * 60 > 0', '{{outcome}}']],
      },
      {
        title: 'Alerts waiting',
        about: 'ledgerbell_outbox_waiting',
        unit: SHORT,
        targets: [
          ['ledgerbell_outbox_waiting', '{{state}}'],
          ['ledgerbell_outbox_frozen', 'messages not confirmed'],
        ],
      },
      {
        title: 'Wait of the oldest due alert',
        about: 'ledgerbell_outbox_oldest_seconds',
        unit: SECONDS,
        targets: [['ledgerbell_outbox_oldest_seconds', 'oldest']],
      },
      {
        title: 'Dead letters',
        about: 'ledgerbell_dead_letters',
        unit: SHORT,
        targets: [['ledgerbell_dead_letters', 'dead letters']],
      },
      {
        title: 'Rejections in 10 minutes',
        about: 'ledgerbell_invalid_requests',
        unit: SHORT,
        targets: [['ledgerbell_invalid_requests', '401, 403, 429']],
      },
      {
        title: 'Channels and servers that cannot be posted in',
        about: 'ledgerbell_channels',
        unit: SHORT,
        targets: [
          ['ledgerbell_channels', '{{state}} channels'],
          ['ledgerbell_held_guilds', 'held servers'],
        ],
      },
      {
        title: 'Connection to Discord',
        about: 'ledgerbell_shard_connected',
        unit: 'bool_yes_no',
        targets: [
          ['ledgerbell_shard_connected', 'shard {{shard}} connected'],
          ['ledgerbell_authorized', 'token accepted'],
          ['ledgerbell_breaker_open', 'sending paused'],
        ],
      },
    ],
  },
  {
    title: 'Database, disk and interfaces',
    each: 8,
    height: 8,
    panels: [
      {
        title: 'Database works',
        about: 'ledgerbell_database_ready',
        unit: 'bool_yes_no',
        targets: [['ledgerbell_database_ready', 'ready']],
      },
      {
        title: 'Working process',
        about: 'ledgerbell_working',
        unit: 'bool_yes_no',
        targets: [['ledgerbell_working', '{{instance}}']],
      },
      {
        title: 'Elections per hour',
        about: 'ledgerbell_elections_total',
        unit: SHORT,
        targets: [['increase(ledgerbell_elections_total[1h])', '{{instance}}']],
      },
      {
        title: 'Last sync',
        about: 'ledgerbell_last_sync_seconds',
        unit: SECONDS,
        targets: [['ledgerbell_last_sync_seconds', 'sync']],
      },
      {
        title: 'Files',
        about: 'ledgerbell_file_bytes',
        unit: 'bytes',
        targets: [['ledgerbell_file_bytes', '{{file}}']],
      },
      {
        title: 'Free space',
        about: 'ledgerbell_disk_free_bytes',
        unit: 'bytes',
        targets: [['ledgerbell_disk_free_bytes', 'free']],
      },
      {
        title: 'Age of the newest backup',
        about: 'ledgerbell_last_backup_timestamp_seconds',
        unit: SECONDS,
        targets: [['time() - (ledgerbell_last_backup_timestamp_seconds > 0)', 'age']],
      },
      {
        title: 'Interfaces: unavailable for',
        about: 'ledgerbell_interface_unavailable_seconds',
        unit: SECONDS,
        targets: [['ledgerbell_interface_unavailable_seconds', '{{interface}}']],
      },
      {
        title: 'Interfaces: failed requests per minute',
        about: 'ledgerbell_interface_errors_total',
        unit: SHORT,
        targets: [['rate(ledgerbell_interface_errors_total[5m]) * 60 > 0', '{{interface}}: {{reason}}']],
      },
    ],
  },
  {
    title: 'Process',
    each: 8,
    height: 8,
    panels: [
      {
        title: 'Processor',
        about: 'process_cpu_seconds_total',
        unit: 'percentunit',
        targets: [['rate(process_cpu_seconds_total{job="ledgerbell"}[5m])', 'cores']],
      },
      {
        title: 'Memory',
        about: 'process_resident_memory_bytes',
        unit: 'bytes',
        targets: [['process_resident_memory_bytes{job="ledgerbell"}', 'resident']],
      },
      {
        title: 'Event-loop delay',
        about: 'nodejs_eventloop_lag_p99_seconds',
        unit: SECONDS,
        targets: [['nodejs_eventloop_lag_p99_seconds{job="ledgerbell"}', 'p99']],
      },
      {
        title: 'Open files',
        about: 'process_open_fds',
        unit: SHORT,
        targets: [
          ['process_open_fds{job="ledgerbell"}', 'open'],
          ['process_max_fds{job="ledgerbell"}', 'limit'],
        ],
      },
      {
        title: 'Starts in an hour',
        about: 'process_start_time_seconds',
        unit: SHORT,
        targets: [['changes(process_start_time_seconds{job="ledgerbell"}[1h])', 'starts']],
      },
    ],
  },
];
