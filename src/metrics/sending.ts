import type { MetricRow } from './row.ts';

/** The metrics of alerts, and of the connection to Discord. */
export const SENDING = {
  messages_sent_total: {
    type: 'counter',
    help: 'Messages and edits that Discord accepted',
    labels: ['kind'],
    alarm: 'no increase while `ledgerbell_outbox_waiting{state="due"}` is above 0',
    means:
      '`create` is a message with alerts, `digest` a digest, `edit` a change of a sent message, `notice` anything else',
    todo: 'see `ledgerbell_outbox_oldest_seconds`',
  },
  alerts_posted_total: {
    type: 'counter',
    help: 'Alerts in messages that Discord accepted',
    alarm: 'the same',
    means: 'alerts in the messages above; up to ten alerts share a message, a digest has any number',
    todo: 'the same',
  },
  message_delay_seconds: {
    type: 'histogram',
    help: 'From receiving the oldest delivery in a message until Discord accepted the message; without digests and quiet hours',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600],
    alarm: 'the 95th percentile of 15 minutes is above 60',
    means:
      'alerts come late: Discord is slow or rate-limits the bot, or the machine is busy. Alerts that a digest or quiet hours held back do not count',
    todo: 'check `ledgerbell_discord_attempts_total`, then the age of the inbox and of the outbox',
    rules: [
      {
        alert: 'LedgerbellAlertsLate',
        expr: 'histogram_quantile(0.95, sum by (le) (rate(ledgerbell_message_delay_seconds_bucket[15m]))) > 60',
        for: '15m',
      },
    ],
  },
  discord_attempts_total: {
    type: 'counter',
    help: 'Attempts to post or edit a message, by outcome',
    labels: ['outcome'],
    alarm:
      'more than 300 with `outcome="rate-limited"` or `outcome="rate-limited-globally"` in an hour, or more than 30 with `outcome="unsure"` or `outcome="breaker"` in 15 minutes',
    means:
      'Discord’s responses: `sent`; `rate-limited` (429 for one channel) and `rate-limited-globally`; `unsure` (no response, or 5xx); `breaker` (a response from something in front of Discord); `unauthorized` (401); `forbidden` (no permission); `gone` (no such channel); `refused` (400)',
    todo: 'rate limits: does another program use the same token or address? Otherwise check Discord’s status page; the bot retries automatically',
    rules: [
      {
        alert: 'LedgerbellRateLimited',
        expr: 'sum(increase(ledgerbell_discord_attempts_total{outcome=~"rate-limited.*"}[1h])) > 300',
      },
      {
        alert: 'LedgerbellDiscordFailing',
        expr: 'sum(increase(ledgerbell_discord_attempts_total{outcome=~"unsure|breaker"}[15m])) > 30',
      },
    ],
  },
  outbox_waiting: {
    type: 'gauge',
    help: 'Alerts that wait for their message',
    labels: ['state'],
    alarm: '`state="due"` above 5,000',
    means:
      'alerts wait for Discord (`due`), for a time that a server chose (`held`: digests, quiet hours), or for a channel that the bot cannot post in (`closed`)',
    todo: 'for `due`: check the age, the breaker and the token; a backlog is posted as digests that count every alert',
    rules: [{ alert: 'LedgerbellOutboxLarge', expr: 'ledgerbell_outbox_waiting{state="due"} > 5000', for: '5m' }],
  },
  outbox_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest alert that is due has waited',
    alarm: 'above 600',
    means:
      'a due alert has waited for that long: Discord is down, rate-limits the bot, or sending is paused (up to 300 is normal: a channel with more than 60 alerts in ten minutes gets digests, the first after ten seconds, later ones after at most five minutes)',
    todo: 'check Discord’s status page; the log’s `message not accepted` lines show Discord’s responses. After 72 h without a response an alert becomes a dead letter',
    rules: [{ alert: 'LedgerbellAlertsStuck', expr: 'ledgerbell_outbox_oldest_seconds > 600', for: '1m', page: true }],
  },
  outbox_frozen: {
    type: 'gauge',
    help: 'Messages begun and not yet confirmed',
    alarm: 'above 40 for 10 minutes',
    means:
      'messages were sent and not confirmed; those in channels that the bot cannot post in count as `closed` above',
    todo: 'check Discord’s status page; the log’s `message not accepted` lines show Discord’s responses',
    rules: [{ alert: 'LedgerbellMessagesUnconfirmed', expr: 'ledgerbell_outbox_frozen > 40', for: '10m' }],
  },
  dead_letters: {
    type: 'gauge',
    help: 'Alerts that Discord rejected in every form, or that waited too long',
    alarm: 'above 0',
    means: 'alerts that Discord rejected in every form, or that waited longer than they are kept',
    todo: 'see "Alerts that could not be sent"',
    rules: [{ alert: 'LedgerbellDeadLetters', expr: 'ledgerbell_dead_letters > 0', for: '5m' }],
  },
  channels: {
    type: 'gauge',
    help: 'Channels that the bot cannot post in',
    labels: ['state'],
    alarm: 'never on its own',
    means:
      '`state="parked"`: the bot has no permission to post, alerts are kept for 7 days; `state="unreachable"`: the channel is gone or the bot is no longer in the server, alerts are kept for 30 days. Only channels with alerts to send are counted',
    todo: 'the server’s admins see it in `/status`; the bot notices restored permissions automatically',
  },
  invalid_requests: {
    type: 'gauge',
    help: 'Requests that got 401, 403 or 429 in the last 10 minutes',
    alarm: 'above 250',
    means:
      'Discord returned 401, 403 or 429 that many times in 10 minutes. At 500, sending pauses for a while, because Discord bans an address at 10,000',
    todo: 'the log shows the channels and codes; no single server can cause that many (see `ledgerbell_held_guilds`); another program with the same token or address counts as well',
    rules: [{ alert: 'LedgerbellInvalidRequests', expr: 'ledgerbell_invalid_requests > 250' }],
  },
  held_guilds: {
    type: 'gauge',
    help: 'Servers whose channels wait together after too many rejections',
    alarm: 'above 0 for a day',
    means:
      'Discord rejected about 10 messages in 10 minutes in that many servers. All channels of such a server wait together, and one is tried every minute, later every 15 minutes; when that works, the others follow. Other servers are not affected',
    todo: 'the server’s admins see it in `/status` and `/setup check`',
    rules: [{ alert: 'LedgerbellServersHeld', expr: 'ledgerbell_held_guilds > 0', for: '1d' }],
  },
  breaker_open: {
    type: 'gauge',
    help: '1 while all sending is paused',
    alarm: '1 for 15 minutes',
    means:
      'Discord, or something in front of it, rejects everything (a Cloudflare page, a redirect, 429 without a time): one request retries after 1, 2, 4, 8, 15 minutes; or it rejected 500 requests in 10 minutes, see above',
    todo: 'do not restart. Is the machine’s address blocked, or shared with one that is? Is `DISCORD_API_URL` right?',
    rules: [{ alert: 'LedgerbellSendingPaused', expr: 'ledgerbell_breaker_open == 1', for: '15m', page: true }],
  },
  authorized: {
    type: 'gauge',
    help: '0 while Discord rejects the token',
    alarm: '0',
    means: 'Discord rejects the token (401); sending has stopped, receiving continues',
    todo: 'set the right `DISCORD_TOKEN` and restart',
    rules: [{ alert: 'LedgerbellTokenRejected', expr: 'ledgerbell_authorized == 0', page: true }],
  },
  shard_connected: {
    type: 'gauge',
    help: '1 while this connection (shard) to the gateway is open',
    labels: ['shard'],
    alarm: '0 for 10 minutes',
    means: 'commands and buttons do not respond in the servers of this shard; alerts are still sent',
    todo: '`no connection to Discord` in the log shows why: check the network, `DISCORD_API_URL` and the token',
    rules: [{ alert: 'LedgerbellGatewayAway', expr: 'ledgerbell_shard_connected == 0', for: '10m' }],
  },
} as const satisfies Record<string, MetricRow>;
