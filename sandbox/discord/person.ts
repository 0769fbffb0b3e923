/** A person's client: refuses what a real client would, and builds the payload. */
import { InteractionContextType as Context } from 'discord.js';
import { MIB } from '../../src/domain/bytes.ts';
import type { InteractionRequest } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { apiChannel, apiUser, interactionMember } from './objects.ts';
import type { Place } from './options.ts';
import { botPermissions, permissionsOf, sees } from './permissions.ts';
import { contextMenu, slash } from './person-commands.ts';
import { component, modal } from './person-components.ts';
import type { Prepared } from './response-rules.ts';
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

/** Returns the payload's fields for the person and the place. */
function frame(core: Core, request: InteractionRequest, place: Place): Json {
  const { world } = core;
  const user = world.users.get(request.userId)!;
  const { channel, guild, member } = place;
  const shared = {
    channel_id: channel.id,
    channel: apiChannel(world, channel),
    locale: user.locale,
    app_permissions: botPermissions(world, channel).toString(),
    entitlements: [],
    entitlement_sku_ids: [],
    attachment_size_limit: 10 * MIB,
  };
  if (!guild || !member) {
    // As for a person who has installed the app for themselves.
    return { ...shared, authorizing_integration_owners: { '1': user.id }, user: apiUser(user), context: Context.BotDM };
  }
  const permissions = permissionsOf(world, guild, member, channel).toString();
  return {
    ...shared,
    authorizing_integration_owners: { '0': guild.id },
    channel: { ...shared.channel, permissions },
    member: interactionMember(world, guild, member, channel),
    guild_id: guild.id,
    guild_locale: guild.locale,
    guild: { id: guild.id, locale: guild.locale, features: [] },
    context: Context.Guild,
  };
}

/** Returns what the bot receives for a person's action. @throws {@link NotPossible} */
export function prepare(core: Core, request: InteractionRequest): Prepared {
  const place = placeOf(core, request);

  function make(): Prepared {
    switch (request.kind) {
      case 'command':
      case 'autocomplete':
        return slash(core, request, place);
      case 'message-command':
      case 'user-command':
        return contextMenu(core, request, place);
      case 'button':
      case 'select':
        return component(core, request, place);
      case 'modal':
        return modal(core, request, place);
    }
  }

  const prepared = make();
  if (!prepared) throw new NotPossible(`There is no kind of interaction "${(request as Json).kind}".`);
  return { ...prepared, payload: { ...frame(core, request, place), ...prepared.payload } };
}
