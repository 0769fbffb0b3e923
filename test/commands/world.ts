import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type APIActionRowComponent,
  type APIComponentInMessageActionRow,
  type APIStringSelectComponent,
  ComponentType,
} from 'discord.js';
import pino from 'pino';
import { request } from 'undici';
import { commands } from '../../commands/index.ts';
import { createGuildQueue } from '../../commands/shared/guild-queue.ts';
import type { CommandServices } from '../../commands/shared/services.ts';
import {
  type InteractionState,
  ManualClock,
  type OptionInput,
  seed,
  startDiscord,
} from '../../sandbox/discord/index.ts';
import { relabel } from '../../src/delivery/relabel.ts';
import { drawChart } from '../../src/discord/chart.ts';
import type { AnyCommand, InteractionContext } from '../../src/discord/command.ts';
import { startGateway } from '../../src/discord/gateway.ts';
import { wordsOf } from '../../src/discord/line.ts';
import { sampleMessage } from '../../src/discord/sample.ts';
import type { ActivityStats } from '../../src/domain/activity-stats.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import { makePathToken, openPathTokens, receiverPaths } from '../../src/receiver/paths.ts';
import { createSeal } from '../../src/secrets.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { openBeside } from '../../src/store/sqlite/database.ts';
import { eraseGuild } from '../../src/upkeep.ts';
import { createAttachmentReader } from '../../src/upstream/attachment.ts';
import { createProjects, type ProjectKeys } from '../../src/upstream/projects.ts';
import type { Pipeline } from '../pipeline/harness.ts';
import { routed } from '../store/contract/given.ts';
import { until } from '../until.ts';

export { seed };

/** Addresses with right checksums. */
export const A = '0xcc95E80DA76bd41507b99d9b977Dc3062bcf6430';
export const B = '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE';
export const TOKEN = '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D';
/** It begins and ends like {@link A}. */
export const LIKE_A = '0xcc95000000000000000000000000000000006430';
export const RECEIVER_URL = 'https://bell.example/hooks/receiver-token';
/** An address as it is stored. */
export const lower = (text: string) => text.toLowerCase() as `0x${string}`;

/** Who does it, and where; default Ada (the owner) in Harbor's #alerts. */
export interface Actor {
  as?: string;
  in?: string;
}

/** The operator's project, unless a test says otherwise. */
const OPERATOR: ProjectKeys = { projectId: 'p1', apiKey: 'public-key', apiSecret: 'very-secret' };

/** What a test may put in the place of the usual. `service` is the notification service's root; default: it is off. */
interface WorldOptions {
  commands?: readonly AnyCommand<CommandServices & InteractionContext>[];
  services?: Partial<CommandServices>;
  service?: string;
  operator?: ProjectKeys;
  /** The operator's path token as the environment sets it. */
  receiverToken?: string | undefined;
  /** A pipeline whose database and stand-in the commands share, and which they leave open; default: their own. */
  beside?: Pipeline;
}

/** An unmodified discord.js bot with every command, a real database and the stand-in. */
export async function startWorld(options: WorldOptions = {}) {
  const { beside } = options;
  const dir = await mkdtemp(join(tmpdir(), 'ledgerbell-commands-'));
  // Its time stands still: how long a busy machine takes to answer is no matter here.
  const discord = beside?.discord ?? (await startDiscord({ limits: 'none', clock: new ManualClock(Date.now()) }));
  // Everybody reads English, unless a test says otherwise.
  for (const userId of [seed.mia, seed.noa]) discord.act({ do: 'user.update', userId, locale: 'en-US' });
  discord.act({ do: 'guild.update', guildId: seed.orchid.id, locale: 'en-US' });
  const file = join(dir, 'test.sqlite');
  const own = beside ? null : await openStore(file);
  const store = beside?.store ?? own!.store;
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const clock = { now: Date.now() };
  const now = () => beside?.clock.now() ?? clock.now;
  const fixed = 'receiverToken' in options ? options.receiverToken : 'receiver-token';
  const receiver = receiverPaths(await openPathTokens({ store, fixed, now }), 'https://bell.example');
  const openProjects = (service = options.service, sealKey = 7, timeoutMs = 60_000) =>
    createProjects({
      store,
      seal: createSeal([Buffer.alloc(32, sealKey)]),
      url: service,
      operator: options.operator ?? OPERATOR,
      operatorGuildIds: [seed.harbor.id],
      now,
      newToken: makePathToken,
      onTokens: receiver.refresh,
      timeoutMs,
    });
  const services: CommandServices = {
    ...store,
    storedProjects: store.projects,
    guildQueue: createGuildQueue(),
    explorer: null,
    discovery: null,
    projects: openProjects(),
    receiver,
    settings: {
      maxSubscriptions: 1000,
      explorerUrl: 'https://explorer.example',
      discoveryUrl: undefined,
      publicUrl: 'https://bell.example',
      nativeSymbol: undefined,
      operatorGuildIds: [seed.harbor.id],
      version: '1.2.3',
      schema: 2,
    },
    now,
    ...wordsOf({ explorerUrl: undefined, nativeSymbol: undefined }),
    chart: drawChart,
    async onRelabeled(guildId, addresses) {
      const { channels, ...done } = await relabel(store, guildId, addresses, now());
      beside?.deliverer.wake(channels);
      return done;
    },
    eraseGuild: (guildId) => eraseGuild(store, guildId),
    sample: (one, language) =>
      sampleMessage(one, { explorerUrl: undefined, nativeSymbol: undefined }, clock.now, language),
    readAttachment: createAttachmentReader(discord.apiUrl),
    lastRefused: () => null,
    probeReceiver: async () => 'reachable',
    ...options.services,
  };
  const gatewayOptions = {
    token: discord.token,
    apiUrl: discord.apiUrl,
    commands: async () => options.commands ?? commands,
    services,
    settingsOf: store.guilds.settings,
    now,
    log,
    onAccessChange: () => {},
    onChannelRemoved: () => {},
    onGuildRemoved: () => {},
    onGuilds: () => {},
    onGuildUsed: () => {},
    onToken: () => {},
    random: () => 0.5,
  };
  let gateway = startGateway(gatewayOptions);
  const registered = () => discord.until(({ state }) => state.commands.some((list) => list.commands.length > 0));
  await registered();
  const place = ({ as = seed.ada, in: channelId = seed.harbor.alerts }: Actor) => ({ userId: as, channelId });

  return {
    discord,
    /** The database's. */
    file,
    store,
    services,
    clock,
    logged,
    gateway: () => gateway,
    /** The projects as after a start with another service, another key, or less patience with the service. */
    openProjects,

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
        return status === 'failed' || changed || followups.length > 0;
      });
    },

    /** Sends the form that an interaction opened; fields that are not named stay as they are. */
    async fill(on: InteractionState, values: Record<string, string>, who: Actor = {}): Promise<InteractionState> {
      const used = await discord.use({ kind: 'modal', interactionId: on.id, values, unchecked: true, ...place(who) });
      return used.final();
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
      const outcome = await store.subscriptions.add(
        {
          guildId: seed.harbor.id,
          channelId: seed.harbor.alerts,
          address: lower(A),
          createdBy: seed.ada,
          createdAt: clock.now,
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
      await store.routing.commit(routed({ now: clock.now, stats: [recorded] }));
    },

    /** Writes to the database past the store, as a second process does. */
    sql(statement: string, ...values: (string | number | null)[]): void {
      const db = openBeside(file);
      db.prepare(statement).run(...values);
      db.close();
    },

    /** Gives Harbor's manager role to a person. */
    async makeManager(userId: string) {
      const { id: guildId, watchers } = seed.harbor;
      await store.guilds.changeSettings(guildId, { managerRole: watchers });
      discord.act({ do: 'member.update', guildId, userId, roleIds: [watchers] });
    },

    /** Puts both servers back to how they begin: without subscriptions, labels, default channel and manager role. */
    async reset() {
      for (const guildId of [seed.harbor.id, seed.orchid.id]) {
        for (const { id } of await store.subscriptions.list(guildId)) await store.subscriptions.remove(guildId, id);
        for (const { address } of await store.labels.list(guildId)) await store.labels.remove(guildId, address);
        await store.guilds.changeSettings(guildId, { defaultChannel: null, managerRole: null });
      }
      for (const userId of [seed.mia, seed.noa]) {
        discord.act({ do: 'member.update', guildId: seed.harbor.id, userId, roleIds: [] });
      }
    },

    /** Ends the bot's connection and starts another, as a restart does. */
    async restart() {
      await gateway.close();
      gateway = startGateway(gatewayOptions);
      await until(() => gateway.state() === 'ready');
    },

    async close() {
      await gateway.close();
      if (!beside) await discord.close();
      await own?.close();
      await rm(dir, { recursive: true });
    },
  };
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
    .join('\n');
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
