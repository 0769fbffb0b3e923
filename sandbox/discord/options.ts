/** Option values, checked as a client does. Ids come with the objects that they refer to. */
import { ApplicationCommandOptionType as Option } from 'discord.js';
import type { FileInput, MessageState, OptionInput } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { apiChannel, apiRole, apiUser, interactionMember } from './objects.ts';
import { permissionsOf } from './permissions.ts';
import type { Json } from './validate.ts';
import type { Channel, Guild, Member } from './world.ts';

export interface Place {
  channel: Channel;
  guild: Guild | undefined;
  member: Member | undefined;
}

export type Resolved = ReturnType<typeof createResolved>;

export function createResolved(core: Core, place: Place) {
  const found: Json = {};

  function user(id: string): boolean {
    const user = core.world.users.get(id);
    if (!user) return false;
    put('users', id, apiUser(user));
    const { guild, channel } = place;
    const member = guild?.members.get(id);
    if (guild && member) {
      const { user: _, ...rest } = interactionMember(core.world, guild, member, channel);
      put('members', id, rest);
    }
    return true;
  }

  function role(id: string): boolean {
    const role = place.guild?.roles.get(id);
    if (role) put('roles', id, apiRole(core.world, role));
    return role !== undefined;
  }

  function channel(id: string): boolean {
    const channel = core.world.channels.get(id);
    const { guild, member } = place;
    if (!channel || !guild || !member || channel.guildId !== guild.id) return false;
    const permissions = permissionsOf(core.world, guild, member, channel).toString();
    put('channels', id, { ...apiChannel(core.world, channel), permissions });
    return true;
  }

  function file({ filename, text = '', base64, contentType = 'text/plain; charset=utf-8' }: FileInput): string {
    if (typeof filename !== 'string') throw new NotPossible('A file needs a "filename" and "text" or "base64".');
    const bytes = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64');
    const folder = `ephemeral-attachments/${core.world.botId}`;
    const stored = core.files.store(folder, { filename, contentType, bytes });
    put('attachments', stored.id, { ...stored, ephemeral: true });
    return stored.id;
  }

  function put(kind: string, id: string, value: Json): void {
    found[kind] ??= {};
    found[kind][id] = value;
  }

  return {
    user,
    role,
    channel,
    file,
    message: (state: MessageState): void => put('messages', state.id, state.message),
    get part(): Json {
      return Object.keys(found).length > 0 ? { resolved: found } : {};
    },
  };
}

/** @throws {@link NotPossible} when a client would not send it. */
export function optionValue(
  option: Json,
  given: OptionInput,
  resolved: Resolved,
  unchecked: boolean,
): string | number | boolean {
  function wrong(what: string): never {
    throw new NotPossible(`The option "${option.name}" ${what}.`);
  }
  const id = typeof given === 'string' ? given : '';
  const known = (ok: boolean, what: string): string => (ok ? id : wrong(`names no ${what}: ${id}`));

  function within(size: number, low: unknown, high: unknown): void {
    if (unchecked) return;
    if (typeof low === 'number' && size < low) wrong(`is below its minimum of ${low}`);
    if (typeof high === 'number' && size > high) wrong(`is above its maximum of ${high}`);
  }

  if (!unchecked && option.choices?.length && !option.choices.some(({ value }: Json) => value === given))
    wrong(`must be one of ${option.choices.map(({ value }: Json) => value).join(', ')}`);
  switch (option.type as Option) {
    case Option.String:
      if (typeof given !== 'string') wrong('takes text');
      within(given.length, option.min_length, option.max_length);
      return given;
    case Option.Integer:
    case Option.Number:
      if (typeof given !== 'number' || (option.type === Option.Integer && !Number.isSafeInteger(given)))
        wrong('takes a number');
      within(given, option.min_value, option.max_value);
      return given;
    case Option.Boolean:
      return typeof given === 'boolean' ? given : wrong('takes true or false');
    case Option.User:
      return known(resolved.user(id), 'user');
    case Option.Channel:
      return known(resolved.channel(id), 'channel of this server');
    case Option.Role:
      return known(resolved.role(id), 'role of this server');
    case Option.Mentionable:
      return known(resolved.user(id) || resolved.role(id), 'user or role');
    case Option.Attachment:
      return resolved.file(Object(given) as FileInput);
    case Option.Subcommand:
    case Option.SubcommandGroup:
      return wrong('is a subcommand');
  }
}
