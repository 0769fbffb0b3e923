import type { AlertTarget } from '../domain/alert.ts';
import type { Shard } from '../domain/channel.ts';
import { type Clock, followClock } from '../domain/clock.ts';
import type { SendingPause } from '../domain/sending-pause.ts';
import { createOutcomes } from './apply-outcome.ts';
import { type ChannelStatesOptions, createChannelStates } from './channel-states.ts';
import { createDispatcher } from './dispatch.ts';
import { createMembership } from './membership.ts';
import { createRateLimit } from './rate-limit.ts';
import { createRescan } from './rescan.ts';
import { createScheduler } from './scheduler.ts';
import { createSend } from './send.ts';
import { createServe, type ServeOptions } from './serve.ts';

/** Dependencies of the deliverer. */
export interface DelivererOptions extends ServeOptions, Pick<ChannelStatesOptions, 'renderParked'> {
  random?: () => number;
  /** The time since which the bot could send for this many milliseconds; by default it always could. */
  uptimeSince?(ms: number): number;
}

/** Posts alerts to Discord: one message in flight per channel, first in first out, channels in turn. */
export function startDeliverer({ clock: given, ...options }: DelivererOptions) {
  const { store, log, renderParked, random = Math.random } = options;
  const scheduler = createScheduler();
  // Every part reads this one: after the clock was set back, waits are shortened before a new one is added.
  const clock: Clock = { now: followClock(given, scheduler.setBack), after: (ms, run) => given.after(ms, run) };
  const { uptimeSince = (ms: number) => clock.now() - ms } = options;
  const rateLimit = createRateLimit(clock);
  let isClosed = false;
  const isClosing = () => isClosed;
  const states = createChannelStates({ store, clock, renderParked });
  const membership = createMembership({ states, clock, log, isClosing });
  const outcomes = createOutcomes({ store, clock, scheduler, rateLimit, states, membership, uptimeSince, random });
  const send = createSend({ ...options, clock });
  const serve = createServe({ ...options, clock }, { scheduler, membership, outcomes, send });
  const { wake, idle, close } = createDispatcher({ scheduler, rateLimit, clock, log, serve, isClosing });
  const { rescan, cancelRetry } = createRescan({ store, scheduler, clock, log, wake, isClosing });

  /** These channels have new alerts, named once for each, after this many events; they are stored already. */
  function alertsStored(targets: readonly AlertTarget[], events = 0): void {
    scheduler.addAlerts(targets, events, clock.now());
    wake();
  }

  /** Permissions or channels of a guild changed; `channelId`: the channel that changed, if that is known. */
  function guildChanged(guildId: string, channelId?: string): void {
    membership.recordReturn(guildId);
    scheduler.probeGuild(guildId, clock.now(), channelId);
    wake();
  }

  /** The bot is in exactly these guilds of a shard. */
  async function guildsSynced(guildIds: readonly string[], shard: Shard): Promise<void> {
    for (const guildId of await membership.sync(guildIds, shard)) scheduler.probeGuild(guildId, clock.now());
    wake();
  }

  return {
    /** Resolves once everything that an earlier process left is known. */
    loaded: rescan(),
    /** Finds what waits in channels that nobody named. */
    rescan,
    alertsStored,
    /** These channels have something to send. */
    wake: (channelIds: readonly string[]): void => alertsStored(channelIds.map((channelId) => ({ channelId }))),
    guildRemoved: membership.recordRemoval,
    channelRemoved: (channelId: string): void => void membership.recordRemovedChannel(channelId),
    guildChanged,
    guildsSynced,
    guildUsed: membership.recordUse,
    /** The gateway's token, which is the deliverer's too, was accepted or refused. */
    tokenChecked: rateLimit.recordTokenCheck,
    state: () => ({ ...rateLimit.state(), heldGuilds: scheduler.heldGuilds() }),
    /** The state of a guild whose channels wait together after too many refusals; null: they do not wait. */
    hold: (guildId: string) => scheduler.hold(guildId, clock.now()),
    /** Why due alerts of a guild are not sent now: first what concerns every channel. */
    pauses(guildId: string): SendingPause[] {
      const pause = rateLimit.pause();
      return [...(pause ? [{ channelId: null, ...pause }] : []), ...scheduler.pauses(guildId, clock.now())];
    },
    idle,
    /** Lets what is in flight finish; the rest is frozen in the store. */
    close(): Promise<void> {
      isClosed = true;
      cancelRetry();
      return close();
    },
  };
}
