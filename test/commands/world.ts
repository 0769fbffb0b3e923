import {
  type APIActionRowComponent,
  type APIComponentInMessageActionRow,
  type APIStringSelectComponent,
  ComponentType,
} from 'discord.js';
import pino from 'pino';
import { request } from 'undici';
import { expect } from 'vitest';
import type { CommandServices } from '../../commands/shared/services.ts';
import { type InteractionState, type OptionInput, seed } from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app.ts';
import type { AnyCommand, InteractionContext } from '../../src/discord/command.ts';
import { startGateway } from '../../src/discord/gateway.ts';
import type { ActivityStats } from '../../src/domain/activity-stats.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import { makePathToken } from '../../src/receiver/paths.ts';
import { createSeal } from '../../src/secrets.ts';
import { createProjects, type ProjectKeys } from '../../src/upstream/projects.ts';
import { startPipeline } from '../pipeline/harness.ts';
import { routed } from '../store/contract/given.ts';

export { seed };

/** Addresses with right checksums. */
export const A = '0xcc95E80DA76bd41507b99d9b977Dc3062bcf6430';
export const B = '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE';
export const TOKEN = '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D';
/** It begins and ends like {@link A}. */
export const LIKE_A = '0xcc95000000000000000000000000000000006430';
export const RECEIVER_URL = 'https://bell.example/hooks/receiver-token-of-the-tests';
/** An address as it is stored. */
export const lower = (text: string) => text.toLowerCase() as `0x${string}`;

/** Who does it, and where; default Ada (the owner) in Harbor's #alerts. */
export interface Actor {
  as?: string;
  in?: string;
}

/** The operator's project, unless a test says otherwise. */
const OPERATOR: ProjectKeys = { projectId: 'p1', apiKey: 'public-key', apiSecret: 'very-secret' };

/** The key that seals projects, unless a test says otherwise. */
const SEAL_KEY = 7;

/** What a test may put in the place of the usual. */
interface WorldOptions {
  commands?: readonly AnyCommand<CommandServices & InteractionContext>[];
  services?: Partial<CommandServices>;
  /** The notification service's root; by default it is off. */
  service?: string;
  operator?: ProjectKeys;
  /** What differs from the usual environment; an empty text leaves a variable out. */
  environment?: Record<string, string>;
}

/** The bot over a Discord stand-in, as a pipeline, with its gateway: every command can be used. */
export async function startWorld(options: WorldOptions = {}) {
  const { service = '', operator = OPERATOR, commands } = options;
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  let gateway: Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
  const connect: AppOverrides['connect'] = (usual) => {
    gateway = startGateway(commands ? { ...usual, commands: async () => commands } : usual);
    return gateway;
  };
  const pipeline = await startPipeline({
    log,
    connect,
    services: {
      probeReceiver: async () => ({ status: 'reachable' as const }),
      coolDown: { take: () => null },
      ...options.services,
    },
    environment: {
      RECEIVER_TOKEN: 'receiver-token-of-the-tests',
      PUBLIC_URL: 'https://bell.example',
      SECRETS_KEY: Buffer.alloc(32, SEAL_KEY).toString('base64'),
      OPERATOR_GUILD_IDS: seed.harbor.id,
      NOTIFICATION_URL: service,
      NOTIFICATION_PROJECT_ID: operator.projectId,
      NOTIFICATION_API_KEY: operator.apiKey,
      NOTIFICATION_API_SECRET: operator.apiSecret,
      ...options.environment,
    },
  });
  const { discord, clock } = pipeline;
  // Everybody reads English, unless a test says otherwise.
  for (const userId of [seed.mia, seed.noa]) discord.act({ do: 'user.update', userId, locale: 'en-US' });
  discord.act({ do: 'guild.update', guildId: seed.orchid.id, locale: 'en-US' });
  const services = () => pipeline.app.internals.services;
  await discord.until(({ state }) => state.commands.some((list) => list.commands.length > 0));
  const place = ({ as = seed.ada, in: channelId = seed.harbor.alerts }: Actor) => ({ userId: as, channelId });

  return {
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
    /** The projects as after a start with another service, another key, or less patience with the service. */
    openProjects: (url: string | undefined = options.service, sealKey = SEAL_KEY, timeoutMs = 60_000) =>
      createProjects({
        store: pipeline.store,
        seal: createSeal([Buffer.alloc(32, sealKey)]),
        url,
        operator,
        operatorGuildIds: [seed.harbor.id],
        now: clock.now.bind(clock),
        newToken: makePathToken,
        onTokens: services().receiver.refresh,
        timeoutMs,
      }),

    /** Uses a command and waits for its answer; what a client would not offer is sent all the same. */
    async use(name: string, given: Record<string, OptionInput> = {}, who: Actor = {}): Promise<InteractionState> {
      const used = await discord.use({ kind: 'command', name, options: given, unchecked: true, ...place(who) });
      // A refusal that took long follows the answer that it takes back.
      return used.until(
        ({ status, loading, reply, followups }) =>
          status !== 'waiting' && !loading && (!reply?.deleted || followups.length > 0),
      );
    },

    /** Presses the first button whose custom id starts so, on the answer that an interaction left. */
    async press(on: Shown, start: string, who: Actor = {}): Promise<InteractionState> {
      const customId = buttonsOf(on).find((id) => id.startsWith(start));
      if (!customId) throw new Error(`No button ${start}; there are: ${buttonsOf(on).join(', ')}`);
      const { id: messageId, channelId } = on.reply!;
      const versions = on.reply!.history.length;
      const { userId } = place(who);
      const used = await discord.use({ kind: 'button', messageId, customId, userId, channelId, unchecked: true });
      return used.until(({ reply, loading, followups, status }) => {
        const changed = reply !== null && !loading && reply.history.length > versions;
        const answered = reply !== null && reply.id !== messageId && !loading;
        return status === 'failed' || changed || answered || followups.length > 0;
      });
    },

    /** Uses a command of a message's menu; it is in the channel of `who`. */
    async useOn(messageId: string, name: string, who: Actor = {}): Promise<InteractionState> {
      const used = await discord.use({ kind: 'message-command', name, messageId, unchecked: true, ...place(who) });
      return used.final();
    },

    /** Chooses in the first menu of an answer. */
    async choose(on: Shown, values: string[], who: Actor = {}): Promise<InteractionState> {
      const menu = menuOf(on);
      const { id: messageId, channelId } = on.reply!;
      const versions = on.reply!.history.length;
      const chosen = { customId: menu.custom_id, values, unchecked: true };
      const used = await discord.use({ kind: 'select', messageId, ...chosen, ...place(who), channelId });
      return used.until(({ reply, loading, followups, status }) => {
        const changed = reply !== null && !loading && reply.history.length > versions;
        const answered = reply !== null && reply.id !== messageId && !loading;
        return status === 'failed' || changed || answered || followups.length > 0;
      });
    },

    /** Sends the form that an interaction opened; fields that are not named stay as they are. */
    async fill(
      on: InteractionState,
      values: Record<string, string | string[]>,
      who: Actor = {},
    ): Promise<InteractionState> {
      const used = await discord.use({ kind: 'modal', interactionId: on.id, values, unchecked: true, ...place(who) });
      return used.final();
    },

    /** Presses a button that opens a form; returns what came instead where it was refused. */
    async openFrom(on: Shown, start: string): Promise<InteractionState> {
      const customId = buttonsOf(on).find((id) => id.startsWith(start));
      if (!customId) throw new Error(`No button ${start}; there are: ${buttonsOf(on).join(', ')}`);
      const { id: messageId, channelId } = on.reply!;
      const where = { userId: seed.ada, channelId, unchecked: true };
      const pressed = await discord.use({ kind: 'button', messageId, customId, ...where });
      return pressed.until(({ modal, reply, followups }) => Boolean(modal ?? reply) || followups.length > 0);
    },

    /**
     * Presses a button that opens a form, on the answer that an interaction left, and sends the form; like a person's
     * client it sends what is not named as the form has it.
     */
    async fillFrom(on: Shown, start: string, values: Record<string, string | string[]>): Promise<InteractionState> {
      const opened = await this.openFrom(on, start);
      if (opened.modal === null) return opened;
      const { id: messageId, channelId } = on.reply!;
      const versions = on.reply!.history.length;
      const sent = {
        kind: 'modal' as const,
        interactionId: opened.id,
        values: { ...chosenIn(opened.modal), ...values },
      };
      const used = await discord.use({ ...sent, userId: seed.ada, channelId, unchecked: true });
      return used.until(({ reply, loading, followups, status }) => {
        const isNew = reply !== null && (reply.id !== messageId || reply.history.length > versions);
        return status === 'failed' || followups.length > 0 || (isNew && !loading);
      });
    },

    /** Posts a message with one button as the bot, past every command; or with a menu that offers `choice`. */
    async post(customId: string, channelId: string = seed.harbor.alerts, choice?: string): Promise<Shown> {
      const one = choice
        ? { type: 3, custom_id: customId, options: [{ label: choice, value: choice }] }
        : { type: 2, style: 2, label: 'Press', custom_id: customId };
      const components = [{ type: 1, components: [one] }];
      const { body } = await request(`${discord.apiUrl}/v10/channels/${channelId}/messages`, {
        method: 'POST',
        headers: { authorization: `Bot ${discord.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'Posted', components }),
      });
      const { id } = (await body.json()) as { id: string };
      return { reply: discord.messages(channelId).find(({ message }) => message.id === id)!, followups: [] };
    },

    async choices(name: string, focused: string, given: Record<string, OptionInput> = {}, who: Actor = {}) {
      const used = await discord.use({ kind: 'autocomplete', name, focused, options: given, ...place(who) });
      return used.state.choices ?? [];
    },

    /** Puts a subscription into the database, past the command. */
    async subscribe(wish: Partial<NewSubscription> = {}) {
      const outcome = await pipeline.store.subscriptions.add(
        {
          guildId: seed.harbor.id,
          channelId: seed.harbor.alerts,
          address: lower(A),
          createdBy: seed.ada,
          createdAt: clock.now(),
          ...wish,
        },
        1_000_000,
      );
      if (outcome.status !== 'added') throw new Error(outcome.status);
      return outcome.subscription;
    },

    /** Records when a subscription's address last moved, as routing does. */
    async recordActivity(subscription: number, stats: Partial<ActivityStats> & { lastEventAt: number }) {
      const recorded = { subscription, events: 1, gapMs: null, ...stats };
      await pipeline.store.routing.commit(routed({ now: clock.now(), stats: [recorded] }));
    },

    /** Gives Harbor's manager role to a person. */
    async makeManager(userId: string) {
      const { id: guildId, watchers } = seed.harbor;
      await pipeline.store.guilds.changeSettings(guildId, { managerRole: watchers });
      discord.act({ do: 'member.update', guildId, userId, roleIds: [watchers] });
    },

    /** Puts both servers back to how they begin: without subscriptions, labels, default channel and manager role. */
    async reset() {
      for (const guildId of [seed.harbor.id, seed.orchid.id]) {
        for (const { id } of await pipeline.store.subscriptions.list(guildId))
          await pipeline.store.subscriptions.remove(guildId, id);
        for (const { address } of await pipeline.store.labels.list(guildId))
          await pipeline.store.labels.remove(guildId, address);
        await pipeline.store.guilds.changeSettings(guildId, { defaultChannel: null, managerRole: null });
      }
      for (const userId of [seed.mia, seed.noa]) {
        discord.act({ do: 'member.update', guildId: seed.harbor.id, userId, roleIds: [] });
      }
    },

    /** Stops the bot and starts it again over the same database. */
    async restart() {
      await pipeline.restart();
      await expect.poll(() => gateway.state(), { timeout: 60_000, message: 'the gateway’s state' }).toBe('ready');
    },
    close: () => pipeline.close(),
  };
}

/** What the menus of a form hold when it opens. */
function chosenIn(form: NonNullable<InteractionState['modal']>): Record<string, string[]> {
  const menus = form.components.flatMap((part) => ('component' in part ? [part.component] : []));
  return Object.fromEntries(
    menus.flatMap((menu): [string, string[]][] => {
      if (menu.type === ComponentType.StringSelect) {
        return [[menu.custom_id, menu.options.flatMap((one) => (one.default ? [one.value] : []))]];
      }
      return menu.type === ComponentType.RoleSelect
        ? [[menu.custom_id, (menu.default_values ?? []).map(({ id }) => id)]]
        : [];
    }),
  );
}

/** What an interaction left to see. */
export type Shown = Pick<InteractionState, 'reply' | 'followups'>;

export type CommandWorld = Awaited<ReturnType<typeof startWorld>>;

/** Everything that a person reads in an answer. */
export function textOf({ reply, followups }: Shown): string {
  const messages = [reply, ...followups].filter((one) => one !== null);
  return messages
    .flatMap(({ message: { content, embeds } }) => [
      content,
      ...embeds.flatMap((embed) => [
        embed.title,
        embed.description,
        ...(embed.fields ?? []).flatMap(({ name, value }) => [name, value]),
        embed.footer?.text,
      ]),
    ])
    .filter(Boolean)
    .join('\n')
    .replaceAll(/<\/([^:>]+):\d+>/g, '`/$1`');
}

/** Whether only one person sees the answer. */
export function isPrivate({ reply, followups }: Shown): boolean {
  const seen = [reply, ...followups].filter((one) => one !== null && !one.deleted);
  return seen.length > 0 && seen.every((one) => one!.visibleTo !== null);
}

/** Custom ids of an answer's buttons. */
export function buttonsOf({ reply }: Shown): string[] {
  return componentsOf(reply).flatMap((one) => ('custom_id' in one ? [one.custom_id] : []));
}

/** The first menu of an answer. */
export function menuOf({ reply }: Shown): APIStringSelectComponent {
  const lines = (reply?.message.components ?? []) as APIActionRowComponent<APIComponentInMessageActionRow>[];
  const found = lines.flatMap((line) => line.components).find((one) => one.type === ComponentType.StringSelect);
  if (!found) throw new Error('There is no menu.');
  return found;
}

/** Links of an answer's buttons. */
export function linksOf({ reply }: Shown): { label: string; url: string }[] {
  return componentsOf(reply).flatMap((one) =>
    'url' in one ? [{ label: 'label' in one ? one.label! : '', url: one.url }] : [],
  );
}

function componentsOf(reply: InteractionState['reply']) {
  return (reply?.message.components ?? []).flatMap((line) =>
    'components' in line ? line.components.filter((one) => one.type === 2) : [],
  );
}
