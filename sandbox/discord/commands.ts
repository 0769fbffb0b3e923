/** The application's registered commands, globally and per server. */
import { type APIApplicationCommand, ApplicationCommandType } from 'discord.js';
import { COMMANDS_MAX, checkCommand, checkCommands } from './command-rules.ts';
import type { CommandsState } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Json } from './validate.ts';

export class Commands {
  private readonly applicationId: string;
  private readonly events: Events;
  private readonly nextId: () => string;
  private readonly strict: boolean;
  private readonly scopes = new Map<string | null, APIApplicationCommand[]>();

  constructor(parts: { applicationId: string; events: Events; nextId: () => string; strict: boolean }) {
    this.applicationId = parts.applicationId;
    this.events = parts.events;
    this.nextId = parts.nextId;
    this.strict = parts.strict;
  }

  /** Returns the commands of a server, or the global ones (null). */
  list(guildId: string | null): APIApplicationCommand[] {
    return this.scopes.get(guildId) ?? [];
  }

  states(): CommandsState[] {
    return [...this.scopes].map(([guildId, commands]) => ({ guildId, commands }));
  }

  get(guildId: string | null, id: string): APIApplicationCommand {
    const command = this.list(guildId).find((one) => one.id === id);
    if (!command) throw errors.unknownCommand();
    return command;
  }

  /** Returns the command that a client offers under this name in this server, or in direct messages (null). */
  find(guildId: string | null, type: ApplicationCommandType, name: string): APIApplicationCommand | undefined {
    const fits = (one: APIApplicationCommand): boolean => one.type === type && one.name === name;
    return this.list(guildId).find(fits) ?? this.list(null).find(fits);
  }

  /** Replaces all commands of a scope. A command that keeps its name keeps its id. */
  replace(guildId: string | null, body: Json): APIApplicationCommand[] {
    if (this.strict) checkCommands(body);
    const old = this.list(guildId);
    return this.store(
      guildId,
      body.map((item: Json) => {
        const known = old.find((one) => one.name === item.name && one.type === (item.type ?? 1));
        return this.build(guildId, item, known);
      }),
    );
  }

  /** Adds a command, or replaces the one with this name. */
  create(guildId: string | null, body: Json): { created: boolean; command: APIApplicationCommand } {
    if (this.strict) checkCommand(body);
    const old = this.list(guildId);
    const wanted: ApplicationCommandType = body.type ?? ApplicationCommandType.ChatInput;
    const known = old.find((one) => one.name === body.name && one.type === wanted);
    const most = COMMANDS_MAX[wanted] ?? Number.POSITIVE_INFINITY;
    if (!known && old.filter(({ type }) => type === wanted).length >= most) throw errors.tooManyCommands(most);
    const command = this.build(guildId, body, known);
    this.store(guildId, [...old.filter((one) => one !== known), command]);
    return { created: !known, command };
  }

  edit(guildId: string | null, id: string, body: Json): APIApplicationCommand {
    const known = this.get(guildId, id);
    const merged = { ...known, ...body, type: known.type };
    if (this.strict) checkCommand(body, merged);
    const command = this.build(guildId, merged, known);
    this.store(
      guildId,
      this.list(guildId).map((one) => (one === known ? command : one)),
    );
    return command;
  }

  remove(guildId: string | null, id: string): void {
    const known = this.get(guildId, id);
    this.store(
      guildId,
      this.list(guildId).filter((one) => one !== known),
    );
  }

  private store(guildId: string | null, commands: APIApplicationCommand[]): APIApplicationCommand[] {
    this.scopes.set(guildId, commands);
    this.events.emit({ type: 'commands', commands: { guildId, commands } });
    return commands;
  }

  private build(guildId: string | null, body: Json, known: APIApplicationCommand | undefined): APIApplicationCommand {
    const permissions = body.default_member_permissions;
    return {
      id: known?.id ?? this.nextId(),
      application_id: this.applicationId,
      version: this.nextId(),
      type: body.type ?? ApplicationCommandType.ChatInput,
      name: body.name,
      name_localizations: body.name_localizations ?? null,
      description: body.description ?? '',
      description_localizations: body.description_localizations ?? null,
      default_member_permissions: permissions === undefined || permissions === null ? null : String(permissions),
      dm_permission: body.contexts ? body.contexts.includes(1) : (body.dm_permission ?? true),
      contexts: body.contexts ?? null,
      integration_types: body.integration_types ?? [0],
      nsfw: body.nsfw ?? false,
      ...(body.options?.length && { options: body.options }),
      ...(guildId !== null && { guild_id: guildId }),
    } as APIApplicationCommand;
  }
}
