import { isDeepStrictEqual } from 'node:util';
import {
  type APIApplicationCommand,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  type Client,
  DiscordAPIError,
  InteractionContextType,
  PermissionsBitField,
  type REST,
  Routes,
} from 'discord.js';
import type { Logger } from 'pino';
import { type BackOff, backOff, type Clock, MINUTE, SECOND } from '../domain/clock.ts';
import { reasonOf } from '../errors.ts';
import { localize } from '../languages/index.ts';
import { type Command, MAX_CONTENT, MAX_DESCRIPTION, MAX_FIELD, type MessageCommand, type Reply } from './command.ts';

const REGISTRATION_BACK_OFF: BackOff = { base: 4 * SECOND, max: MINUTE, jitter: 0.5 };

type Named = Pick<Command['data'], 'name'>;
type Registrable = Pick<Command | MessageCommand, 'data'> & Pick<Command, 'anywhere'>;

const IN_GUILDS = {
  contexts: [InteractionContextType.Guild],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};
/** Also for people who installed the app for themselves: in direct messages and guilds without the bot. */
const ANYWHERE = {
  contexts: [InteractionContextType.Guild, InteractionContextType.BotDM, InteractionContextType.PrivateChannel],
  integration_types: [ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall],
};

/** One request for all guilds, unless Discord already has exactly these. Throws when Discord refuses them. */
export async function registerCommands(
  rest: REST,
  applicationId: string,
  commands: readonly Registrable[],
): Promise<{ outcome: 'unchanged' | 'registered'; registered: APIApplicationCommand[] }> {
  const wanted = commands.map(({ data, anywhere }) => ({
    ...localize(data),
    ...(anywhere ? ANYWHERE : IN_GUILDS),
  }));
  const route = Routes.applicationCommands(applicationId);
  const query = new URLSearchParams({ with_localizations: 'true' });
  const current = await rest.get(route, { query }).catch(() => null);
  if (Array.isArray(current) && isDeepStrictEqual(comparable(current), comparable(wanted)))
    return { outcome: 'unchanged', registered: current as APIApplicationCommand[] };
  const registered = await rest.put(route, { body: wanted }).catch((error: unknown) => {
    // An app that people cannot install for themselves may have such commands refused.
    if (!(error instanceof DiscordAPIError) || error.status !== 400) throw error;
    return rest.put(route, { body: wanted.map((command) => ({ ...command, ...IN_GUILDS })) });
  });
  return {
    outcome: 'registered',
    registered: Array.isArray(registered) ? (registered as APIApplicationCommand[]) : [],
  };
}

/** An unknown additional field only causes the commands to be registered again. */
const ADDED = new Set(['id', 'application_id', 'version', 'default_permission', 'dm_permission']);

/** A definition without defaults and without the fields that Discord adds. */
function authored(key: string, value: unknown): unknown {
  if (ADDED.has(key) || value === null || value === false || value === '') return undefined;
  if (!Array.isArray(value)) return value;
  // Options and choices are in the author's order; lists of numbers (channel types, contexts) are sets.
  if (typeof value[0] === 'number') return value.toSorted();
  return value.length === 0 ? undefined : value;
}

function comparable(definitions: object[]): unknown[] {
  return definitions
    .map(
      (definition) =>
        JSON.parse(JSON.stringify({ type: ApplicationCommandType.ChatInput, ...definition }, authored)) as Named,
    )
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Retries for as long as this client is in use: Discord may be busy just after a start. */
export async function keepRegistering(
  client: Client<true>,
  interactions: {
    commands(): Promise<readonly Registrable[]>;
    mentionWith(turn: ReturnType<typeof createCommandMentions>): void;
  },
  options: { log: Logger; after: Clock['after']; random(): number; isInUse(): boolean },
  attempt = 0,
): Promise<void> {
  const { log, after, random, isInUse } = options;
  if (!isInUse()) return;
  try {
    const commands = await interactions.commands();
    const { outcome, registered } = await registerCommands(client.rest, client.application.id, commands);
    interactions.mentionWith(createCommandMentions(registered));
    log.info({ outcome, commands: commands.length }, 'commands registered');
  } catch (error) {
    if (!isInUse()) return;
    log.error({ reason: reasonOf(error) }, 'cannot register commands');
    const again = () => void keepRegistering(client, interactions, options, attempt + 1);
    after(backOff(attempt, REGISTRATION_BACK_OFF, random()), again);
  }
}

/**
 * `/setup check` becomes `</setup check:id>`. A text that would become too long for Discord stays as it is. So does a
 * name in another language: Discord shows a mention's name as it is written, and a click on a translated one does
 * nothing.
 */
export function createCommandMentions(registered: readonly APIApplicationCommand[]): (reply: Reply) => Reply {
  const mentions = new Map<string, string>();
  for (const { id, name, type = ApplicationCommandType.ChatInput, options = [] } of registered) {
    if (type !== ApplicationCommandType.ChatInput) continue;
    const subs = options
      .filter((option) => option.type === ApplicationCommandOptionType.Subcommand)
      .map((option) => `${name} ${option.name}`);
    for (const path of subs.length > 0 ? subs : [name]) mentions.set(path, `</${path}:${id}>`);
  }
  const withMentions = (text: string, max: number): string => {
    const after = text.replaceAll(/`\/([^`\n]{1,70})`/gu, (code, path: string) => mentions.get(path) ?? code);
    return after.length <= max ? after : text;
  };
  return (reply) => ({
    ...reply,
    ...(reply.content !== undefined && { content: withMentions(reply.content, MAX_CONTENT) }),
    ...(reply.embeds && {
      embeds: reply.embeds.map((embed) => ({
        ...embed,
        ...(embed.description && { description: withMentions(embed.description, MAX_DESCRIPTION) }),
        ...(embed.fields && {
          fields: embed.fields.map((field) => ({ ...field, value: withMentions(field.value, MAX_FIELD) })),
        }),
      })),
    }),
  });
}

const USED_PERMISSIONS = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
  'UseApplicationCommands',
] as const;

/** Without a guild, the admin chooses one. */
export function invitation(applicationId: string, guildId?: string): string {
  // Not from the library: its link begins with DISCORD_API_URL, which people may be unable to reach.
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: String(PermissionsBitField.resolve(USED_PERMISSIONS)),
    ...(guildId !== undefined && { guild_id: guildId }),
  });
  return `https://discord.com/oauth2/authorize?${query.toString()}`;
}
