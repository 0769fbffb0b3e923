import { ChannelType } from 'discord.js';
import { expect, onTestFinished } from 'vitest';
import type { CommandServices, CommandSettings, Context } from '../../commands/shared/services.ts';
import { seed } from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app/context.ts';
import type { AnyCommand } from '../../src/discord/command.ts';
import { startGateway } from '../../src/discord/gateway.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import type { ActivityStats, NewSubscription } from '../../src/domain/subscription.ts';
import { readLog, registered } from '../app.ts';
import { openPipeline, type Restart } from '../pipeline/harness.ts';
import { routed } from '../store/contract/given.ts';
import { type Actor, createPeople } from './people.ts';

export { type Actor, buttonsOf, isPrivate, linksOf, menuOf, type Shown, textOf } from './people.ts';
export { seed };

/** Addresses with right checksums. */
export const A = '0xcc95E80DA76bd41507b99d9b977Dc3062bcf6430';
export const B = '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE';
export const TOKEN = '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D';
export const LIKE_A = '0xcc95000000000000000000000000000000006430';
export const RECEIVER_URL = 'https://bell.example/hooks/receiver-token-of-the-tests';
export const lower = (text: string) => text.toLowerCase() as `0x${string}`;

/** A key that seals projects; the usual one is number 7. */
export const secretsKey = (number: number): string => Buffer.alloc(32, number).toString('base64');

interface WorldOptions {
  commands?: readonly AnyCommand<Context>[];
  /** Changes to the usual environment; an empty text leaves a variable out. */
  environment?: Record<string, string>;
  startAt?: number;
}

/** Starts the bot, with its gateway, over a Discord stand-in, so that every command can be used. */
export async function startWorld(options: WorldOptions = {}) {
  const { commands } = options;
  const logged: Record<string, unknown>[] = [];
  const log = readLog('debug', (line) => void logged.push(JSON.parse(line)));
  let gateway: Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
  const connect: AppOverrides['connect'] = (given) => {
    gateway = startGateway(commands ? { ...given, commands: async () => commands } : given);
    return gateway;
  };
  const usual = {
    environment: {
      RECEIVER_TOKEN: 'receiver-token-of-the-tests',
      PUBLIC_URL: 'https://bell.example',
      SECRETS_KEY: secretsKey(7),
      OPERATOR_GUILD_IDS: seed.harbor.id,
      NOTIFICATION_PROJECT_ID: 'p1',
      NOTIFICATION_API_KEY: 'public-key',
      NOTIFICATION_API_SECRET: 'very-secret',
      ...options.environment,
    },
    // Any machine may be slow.
    upstreamTimeoutMs: 60_000,
  };
  const pipeline = await openPipeline({
    ...usual,
    ...(options.startAt !== undefined && { startAt: options.startAt }),
    log,
    connect,
    services: {
      // Nothing responds at the public URL, and tests make lookups faster than people may.
      probeReceiver: async () => ({ status: 'reachable' as const }),
      cooldown: { take: () => null },
    },
  });
  const { discord, clock } = pipeline;
  for (const userId of [seed.mia, seed.noa]) discord.act({ do: 'user.update', userId, locale: 'en-US' });
  discord.act({ do: 'guild.update', guildId: seed.orchid.id, locale: 'en-US' });
  const services = () => pipeline.app.internals.working().services;
  await registered(discord);

  /** Replaces services until the test ends. */
  function replace(changed: Partial<CommandServices>): void {
    const current = services();
    const before = { ...current };
    Object.assign(current, changed);
    const names = Object.keys(changed) as (keyof CommandServices)[];
    onTestFinished(() => void Object.assign(current, Object.fromEntries(names.map((name) => [name, before[name]]))));
  }

  async function restart(changed?: Restart): Promise<void> {
    await pipeline.restart(changed);
    await expect.poll(() => gateway.state(), { timeout: 60_000, message: 'the gateway’s state' }).toBe('ready');
  }

  const people = createPeople(discord);
  return {
    ...people,
    pipeline,
    discord,
    get store() {
      return pipeline.store;
    },
    get services() {
      return services();
    },
    clock,
    logged,
    replace,
    /** Changes settings until the test ends. */
    configure(changed: Partial<CommandSettings>): void {
      replace({ settings: { ...services().settings, ...changed } });
    },

    /** Sets a person's language until the test ends. */
    speak(locale: string, userId: string = seed.ada): void {
      discord.act({ do: 'user.update', userId, locale });
      onTestFinished(() => void discord.act({ do: 'user.update', userId, locale: 'en-US' }));
    },

    bring(data: string | Buffer, who: Actor = {}) {
      const file = { filename: 'list.csv', base64: Buffer.from(data).toString('base64') };
      return people.use('subscription import', { file }, who);
    },

    /** Creates a channel in Harbor until the test ends, and returns its ID: by default a private thread in #alerts. */
    makeChannel(
      given: { name: string; type: ChannelType } = { name: 'inner circle', type: ChannelType.PrivateThread },
    ) {
      const isThread = given.type === ChannelType.PrivateThread || given.type === ChannelType.PublicThread;
      const parent = isThread && { parentId: seed.harbor.alerts };
      const id = discord.act({ do: 'channel.create', guildId: seed.harbor.id, ...given, ...parent }).id!;
      onTestFinished(() => void discord.act({ do: 'channel.delete', channelId: id }));
      return id;
    },

    invite: (channelId: string) =>
      discord.act({ do: 'message.send', channelId, userId: seed.ada, content: `<@${seed.bot}> come in` }),

    /** Names an address in Harbor's book without a command. */
    name: (address: string, name: string) =>
      pipeline.store.labels.set(seed.harbor.id, { address: lower(address), name, createdBy: seed.ada, at: 0 }, 1_000),

    /** Adds a subscription without a command. */
    async subscribe(changed: Partial<NewSubscription> = {}) {
      const outcome = await pipeline.store.subscriptions.add(
        {
          guildId: seed.harbor.id,
          channelId: seed.harbor.alerts,
          address: lower(A),
          createdBy: seed.ada,
          createdAt: clock.now(),
          ...changed,
        },
        1_000_000,
      );
      if (outcome.status !== 'added') throw new Error(outcome.status);
      return outcome.subscription;
    },

    async recordActivity(subscription: number, stats: Partial<ActivityStats> & { lastEventAt: number }) {
      const recorded = { subscription, events: 1, gapMs: null, ...stats };
      await pipeline.store.routing.commit(routed({ now: clock.now(), stats: [recorded] }));
    },

    async makeManager(userId: string) {
      const { id: guildId, watchers } = seed.harbor;
      await pipeline.store.guilds.changeSettings(guildId, { managerRole: watchers });
      discord.act({ do: 'member.update', guildId, userId, roleIds: [watchers] });
    },

    /** Removes subscriptions, labels, default channel and manager role from both servers, and the role from its members. */
    async reset() {
      for (const guildId of [seed.harbor.id, seed.orchid.id]) {
        for (const { id } of await pipeline.store.subscriptions.list(guildId))
          await pipeline.store.subscriptions.remove(guildId, id);
        for (const label of await pipeline.store.labels.list(guildId))
          await pipeline.store.labels.remove(guildId, label);
        await pipeline.store.guilds.changeSettings(guildId, { defaultChannel: null, managerRole: null });
      }
      for (const userId of [seed.mia, seed.noa]) {
        discord.act({ do: 'member.update', guildId: seed.harbor.id, userId, roleIds: [] });
      }
    },

    /** Makes what the bot remembers of an interface's responses too old. After a fault it would probe the interface. */
    async forgetResponses(): Promise<void> {
      if (services().interfaces.outages().size > 0) await restart();
      clock.advance(10 * MINUTE);
    },

    /** Starts the bot again over the same database; with a changed environment or timeout until the test ends. */
    async restart(changed?: Restart): Promise<void> {
      await restart(changed);
      if (changed) onTestFinished(() => restart(usual));
    },
    close: () => pipeline.close(),
  };
}

export type CommandWorld = Awaited<ReturnType<typeof startWorld>>;
