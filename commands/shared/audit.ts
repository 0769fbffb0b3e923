import type { Use } from '../../src/discord/command.ts';
import { hasSeveral } from './networks.ts';
import type { Context } from './services.ts';

/** Actions on one network's project. */
const OF_NETWORK = /^(webhook|setup\.(project|receiver))\b/;

/** Adds an entry about what a person did in a guild to the audit log, with the network where there are several. */
export function record(
  { guildId, user }: Use,
  { audit, now, network, settings }: Context,
  action: string,
  detail: object,
): Promise<void> {
  const isNamed = hasSeveral(settings) && OF_NETWORK.test(action);
  const whole = isNamed ? { ...detail, network: network.id } : detail;
  return audit.record({ guildId, userId: user.id, action, detail: whole, at: now() });
}
