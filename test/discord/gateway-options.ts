import pino from 'pino';
import type { GatewayOptions } from '../../src/discord/gateway.ts';
import { systemClock } from '../../src/domain/clock.ts';

/** What a gateway is started with in tests that do not look at it: nothing is logged or remembered, nobody is notified. */
export const QUIET = {
  settingsOf: () => Promise.reject(new Error('Nobody uses a command here.')),
  now: Date.now,
  log: pino({ level: 'silent' }),
  onAccessChange: () => {},
  onChannelRemoved: () => {},
  onGuildRemoved: () => {},
  onGuilds: () => {},
  onGuildUsed: () => {},
  onToken: () => {},
  after: systemClock.after,
  identified: { last: async () => null, note: async () => {} },
  random: () => 0,
} satisfies Partial<GatewayOptions<object>>;
