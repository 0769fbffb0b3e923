/** The bot's registered commands. A `guildId` of null stands for the global ones. */
import {
  type APIApplicationCommand,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
} from 'discord.js';
import type { Base } from './base.ts';
import { checkCommand, checkCommands, MAX_COMMANDS } from './command-rules.ts';
import type { CommandsState } from './control.ts';
import { errors } from './errors.ts';
import type { Json } from './validate.ts';

export type Commands = ReturnType<typeof createCommands>;

export function createCommands({ world, events, nextId, strict }: Base) {
  const scopes = new Map<string | null, APIApplicationCommand[]>();

  function build(guildId: string | null, body: Json, known?: APIApplicationCommand): APIApplicationCommand {
    const permissions = body.default_member_permissions;
    return {
      id: known?.id ?? nextId(),
      application_id: world.botId,
      version: nextId(),
      type: typeOf(body),
      name: body.name,
      name_localizations: body.name_localizations ?? null,
      description: body.description ?? '',
      description_localizations: body.description_localizations ?? null,
      default_member_permissions: permissions === undefined || permissions === null ? null : String(permissions),
      dm_permission: body.contexts?.includes(InteractionContextType.BotDM) ?? body.dm_permission ?? true,
      contexts: body.contexts ?? null,
      integration_types: body.integration_types ?? [ApplicationIntegrationType.GuildInstall],
      nsfw: body.nsfw ?? false,
      ...(body.options?.length && { options: body.options }),
      ...(guildId !== null && { guild_id: guildId }),
    } as APIApplicationCommand;
  }

  function list(guildId: string | null): APIApplicationCommand[] {
    return scopes.get(guildId) ?? [];
  }

  function states(): CommandsState[] {
    return [...scopes].map(([guildId, commands]) => ({ guildId, commands }));
  }

  function get(guildId: string | null, id: string): APIApplicationCommand {
    const command = list(guildId).find((stored) => stored.id === id);
    if (!command) throw errors.unknownCommand();
    return command;
  }

  /** `guildId` null means direct messages. */
  function find(guildId: string | null, type: ApplicationCommandType, name: string): APIApplicationCommand | undefined {
    const fits = (stored: APIApplicationCommand): boolean => stored.type === type && stored.name === name;
    return list(guildId).find(fits) ?? list(null).find(fits);
  }

  /** A command that keeps its name keeps its id. */
  function replace(guildId: string | null, body: Json): APIApplicationCommand[] {
    if (strict) checkCommands(body);
    const old = list(guildId);
    const known = (item: Json) => old.find((stored) => stored.name === item.name && stored.type === typeOf(item));
    const commands = body.map((item: Json) => build(guildId, item, known(item)));
    return store(guildId, commands);
  }

  function create(guildId: string | null, body: Json): { command: APIApplicationCommand; isNew: boolean } {
    if (strict) checkCommand(body);
    const old = list(guildId);
    const wanted = typeOf(body);
    const known = old.find((stored) => stored.name === body.name && stored.type === wanted);
    const max = MAX_COMMANDS[wanted] ?? Number.POSITIVE_INFINITY;
    if (!known && old.filter(({ type }) => type === wanted).length >= max) throw errors.tooManyCommands(max);
    const command = build(guildId, body, known);
    store(guildId, [...old.filter((stored) => stored !== known), command]);
    return { command, isNew: !known };
  }

  function edit(guildId: string | null, id: string, body: Json): APIApplicationCommand {
    const known = get(guildId, id);
    const merged = { ...known, ...body, type: known.type };
    if (strict) checkCommand(body, merged);
    const command = build(guildId, merged, known);
    const commands = list(guildId).map((stored) => (stored === known ? command : stored));
    store(guildId, commands);
    return command;
  }

  function remove(guildId: string | null, id: string): void {
    const known = get(guildId, id);
    const others = list(guildId).filter((stored) => stored !== known);
    store(guildId, others);
  }

  function store(guildId: string | null, commands: APIApplicationCommand[]): APIApplicationCommand[] {
    scopes.set(guildId, commands);
    events.emit({ type: 'commands', commands: { guildId, commands } });
    return commands;
  }

  return { list, states, get, find, replace, create, edit, remove };
}

const typeOf = (body: Json): ApplicationCommandType => body.type ?? ApplicationCommandType.ChatInput;
