/** The application's registered commands, globally and per server. */
import {
  type APIApplicationCommand,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
} from 'discord.js';
import { checkCommand, checkCommands, MAX_COMMANDS } from './command-rules.ts';
import type { CommandsState } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Json } from './validate.ts';

/** The registered commands. */
export type Commands = ReturnType<typeof createCommands>;

interface CommandsOptions {
  applicationId: string;
  events: Events;
  nextId: () => string;
  strict: boolean;
}

/** Creates the registry of commands. */
export function createCommands({ applicationId, events, nextId, strict }: CommandsOptions) {
  const scopes = new Map<string | null, APIApplicationCommand[]>();
  const build = (guildId: string | null, body: Json, known: APIApplicationCommand | undefined) =>
    commandOf(body, { id: known?.id ?? nextId(), applicationId, version: nextId(), guildId });

  /** Returns the commands of a server, or the global ones (null). */
  function list(guildId: string | null): APIApplicationCommand[] {
    return scopes.get(guildId) ?? [];
  }

  function states(): CommandsState[] {
    return [...scopes].map(([guildId, commands]) => ({ guildId, commands }));
  }

  function get(guildId: string | null, id: string): APIApplicationCommand {
    const command = list(guildId).find((one) => one.id === id);
    if (!command) throw errors.unknownCommand();
    return command;
  }

  /** Returns the command that a client offers under this name in this server, or in direct messages (null). */
  function find(guildId: string | null, type: ApplicationCommandType, name: string): APIApplicationCommand | undefined {
    const fits = (one: APIApplicationCommand): boolean => one.type === type && one.name === name;
    return list(guildId).find(fits) ?? list(null).find(fits);
  }

  /** Replaces all commands of a scope. A command that keeps its name keeps its id. */
  function replace(guildId: string | null, body: Json): APIApplicationCommand[] {
    if (strict) checkCommands(body);
    const old = list(guildId);
    return store(
      guildId,
      body.map((item: Json) => {
        const known = old.find((one) => one.name === item.name && one.type === typeOf(item));
        return build(guildId, item, known);
      }),
    );
  }

  /** Adds a command, or replaces the one with this name. */
  function create(guildId: string | null, body: Json): { isNew: boolean; command: APIApplicationCommand } {
    if (strict) checkCommand(body);
    const old = list(guildId);
    const wanted = typeOf(body);
    const known = old.find((one) => one.name === body.name && one.type === wanted);
    const max = MAX_COMMANDS[wanted] ?? Number.POSITIVE_INFINITY;
    if (!known && old.filter(({ type }) => type === wanted).length >= max) throw errors.tooManyCommands(max);
    const command = build(guildId, body, known);
    store(guildId, [...old.filter((one) => one !== known), command]);
    return { isNew: !known, command };
  }

  function edit(guildId: string | null, id: string, body: Json): APIApplicationCommand {
    const known = get(guildId, id);
    const merged = { ...known, ...body, type: known.type };
    if (strict) checkCommand(body, merged);
    const command = build(guildId, merged, known);
    store(
      guildId,
      list(guildId).map((one) => (one === known ? command : one)),
    );
    return command;
  }

  function remove(guildId: string | null, id: string): void {
    const known = get(guildId, id);
    store(
      guildId,
      list(guildId).filter((one) => one !== known),
    );
  }

  function store(guildId: string | null, commands: APIApplicationCommand[]): APIApplicationCommand[] {
    scopes.set(guildId, commands);
    events.emit({ type: 'commands', commands: { guildId, commands } });
    return commands;
  }

  return { list, states, get, find, replace, create, edit, remove };
}

/** Returns a definition's type. */
const typeOf = (body: Json): ApplicationCommandType => body.type ?? ApplicationCommandType.ChatInput;

interface Registration {
  id: string;
  applicationId: string;
  version: string;
  guildId: string | null;
}

/** Returns a registered command. */
function commandOf(body: Json, { id, applicationId, version, guildId }: Registration): APIApplicationCommand {
  const permissions = body.default_member_permissions;
  return {
    id,
    application_id: applicationId,
    version,
    type: typeOf(body),
    name: body.name,
    name_localizations: body.name_localizations ?? null,
    description: body.description ?? '',
    description_localizations: body.description_localizations ?? null,
    default_member_permissions: permissions === undefined || permissions === null ? null : String(permissions),
    dm_permission: body.contexts ? body.contexts.includes(InteractionContextType.BotDM) : (body.dm_permission ?? true),
    contexts: body.contexts ?? null,
    integration_types: body.integration_types ?? [ApplicationIntegrationType.GuildInstall],
    nsfw: body.nsfw ?? false,
    ...(body.options?.length && { options: body.options }),
    ...(guildId !== null && { guild_id: guildId }),
  } as APIApplicationCommand;
}
