/** A person's client: refuses what a real client would, and builds the payload. */
import { InteractionContextType as Context } from 'discord.js';
import { MIB } from '../../src/domain/units.ts';
import type { InteractionRequest } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import type { Prepared } from './interactions.ts';
import { apiChannel, apiUser, interactionMember } from './objects.ts';
import type { Place } from './options.ts';
import { botPermissions, sees } from './permissions.ts';
import { contextMenu, slash } from './person-commands.ts';
import { component, modal, type RequestOf } from './person-components.ts';
import type { Json } from './validate.ts';

function placeOf(core: Core, request: InteractionRequest): Place {
  const channel = core.world.channels.get(request.channelId);
  if (!channel) throw new NotPossible(`There is no channel ${request.channelId}.`);
  if (!core.world.users.has(request.userId)) throw new NotPossible(`There is no user ${request.userId}.`);
  const guild = core.world.guildOf(channel);
  const member = guild?.members.get(request.userId);
  if (guild && !member) throw new NotPossible(`User ${request.userId} is not a member of ${guild.name}.`);
  if (guild && !guild.present) throw new NotPossible(`The bot is not in ${guild.name}.`);
  if (!sees(core.world, request.userId, channel) && !request.unchecked)
    throw new NotPossible(`User ${request.userId} does not see #${channel.name}.`);
  return { channel, guild, member };
}

function frame(core: Core, request: InteractionRequest, place: Place): Json {
  const { world } = core;
  const user = world.users.get(request.userId)!;
  const { channel, guild, member } = place;
  const shown = apiChannel(world, channel);
  const shared = {
    channel_id: channel.id,
    locale: user.locale,
    app_permissions: botPermissions(world, channel).toString(),
    entitlements: [],
    entitlement_sku_ids: [],
    attachment_size_limit: 10 * MIB,
  };
  if (!guild || !member) {
    // As for a person who has installed the app for themselves.
    const owners = { authorizing_integration_owners: { '1': user.id } };
    return { ...shared, ...owners, channel: shown, user: apiUser(user), context: Context.BotDM };
  }
  const acting = interactionMember(world, guild, member, channel);
  return {
    ...shared,
    authorizing_integration_owners: { '0': guild.id },
    channel: { ...shown, permissions: acting.permissions },
    member: acting,
    guild_id: guild.id,
    guild_locale: guild.locale,
    guild: { id: guild.id, locale: guild.locale, features: [] },
    context: Context.Guild,
  };
}

const KINDS: { [K in InteractionRequest['kind']]: (core: Core, request: RequestOf<K>, place: Place) => Prepared } = {
  command: slash,
  autocomplete: slash,
  'message-command': contextMenu,
  'user-command': contextMenu,
  button: component,
  select: component,
  modal,
};

/** @throws {@link NotPossible} */
export function prepare(core: Core, request: InteractionRequest): Prepared {
  const place = placeOf(core, request);
  // JSON from outside may contain any kind.
  if (!Object.hasOwn(KINDS, request.kind)) throw new NotPossible(`There is no kind of interaction "${request.kind}".`);
  const make = KINDS[request.kind] as (core: Core, request: InteractionRequest, place: Place) => Prepared;
  const prepared = make(core, request, place);
  return { ...prepared, payload: { ...frame(core, request, place), ...prepared.payload } };
}
