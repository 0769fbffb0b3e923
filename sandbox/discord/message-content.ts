import { ComponentType, MessageFlags, MessageReferenceType, MessageType, PermissionFlagsBits } from 'discord.js';
import { iso } from './clock.ts';
import type { MessageState } from './control.ts';
import { componentsIn } from './message-rules.ts';
import { apiUser } from './objects.ts';
import { botPermissions } from './permissions.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

interface Source {
  channel: Channel;
  author: User;
  body: Json;
  referenced: MessageState | undefined;
}

/** Without its files. `extra` are fields that the body does not decide. */
export function newMessage(
  world: World,
  source: Source,
  { id, at, extra }: { id: string; at: number; extra?: Json },
): Json {
  const { channel, author, body } = source;
  return {
    type: MessageType.Default,
    tts: body.tts ?? false,
    pinned: false,
    id,
    channel_id: channel.id,
    author: apiUser(author),
    timestamp: iso(at),
    edited_timestamp: null,
    flags:
      Number(body.flags ?? 0) &
      (MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications | MessageFlags.IsComponentsV2),
    ...contentOf(world, source),
    attachments: [],
    ...(body.nonce !== undefined && body.nonce !== null && { nonce: body.nonce }),
    ...referenceOf(source),
    ...extra,
  };
}

/** With `flags`, it completes a reply that was still loading. */
export function editedMessage(
  world: World,
  before: Json,
  source: Pick<Source, 'channel' | 'body' | 'referenced'>,
  { at, flags }: { at: number; flags: number | undefined },
): Json {
  const { body } = source;
  const message = { ...before };
  if (flags === undefined) message.edited_timestamp = iso(at);
  const fresh = contentOf(world, { ...source, author: world.users.get(message.author.id)! });
  for (const key of ['content', 'embeds', 'components'] as const)
    if (body[key] !== undefined) message[key] = fresh[key];
  if (body.content !== undefined || body.components !== undefined)
    for (const key of ['mentions', 'mention_roles', 'mention_everyone'] as const) message[key] = fresh[key];
  if (body.flags !== undefined && body.flags !== null)
    message.flags =
      (message.flags & ~MessageFlags.SuppressEmbeds) |
      (Number(body.flags) & (MessageFlags.SuppressEmbeds | MessageFlags.IsComponentsV2));
  if (flags !== undefined) message.flags = flags | (Number(body.flags ?? 0) & MessageFlags.IsComponentsV2);
  return message;
}

function contentOf(world: World, { channel, author, body, referenced }: Source): Json {
  const content = typeof body.content === 'string' ? body.content.trim() : '';
  let id = 0;
  const components = body.components?.length ? structuredClone(body.components) : [];
  const texts = [content];
  for (const [component] of componentsIn(components, [])) {
    component.id ??= ++id;
    if (component.type === ComponentType.TextDisplay) texts.push(component.content);
  }
  return {
    content,
    embeds: (body.embeds ?? []).map(tidyEmbed),
    components,
    ...mentionsIn(world, texts.join('\n'), { channel, author, body, referenced }),
  };
}

/** The mentions that `allowed_mentions` and permissions allow. */
function mentionsIn(world: World, content: string, { channel, author, body, referenced }: Source): Json {
  const allowed = body.allowed_mentions;
  const may = (kind: 'users' | 'roles', id: string): boolean =>
    !allowed || allowed.parse?.includes(kind) || allowed[kind]?.includes(id) || false;
  const guild = world.guildOf(channel);
  const everybody =
    author.id !== world.botId || (botPermissions(world, channel) & PermissionFlagsBits.MentionEveryone) !== 0n;
  const ids = (pattern: RegExp): string[] => [...new Set([...content.matchAll(pattern)].map((match) => match[1]!))];
  const users = ids(/<@!?(\d+)>/g).filter((id) => may('users', id) && world.users.has(id));
  const replied = body.message_reference && allowed?.replied_user !== false ? referenced : undefined;
  if (replied && (!allowed || allowed.replied_user) && !users.includes(replied.message.author.id))
    users.push(replied.message.author.id);
  return {
    mentions: users.map((id) => apiUser(world.users.get(id)!)),
    mention_roles: ids(/<@&(\d+)>/g).filter((id) => {
      const role = guild?.roles.get(id);
      return role && may('roles', id) && (role.mentionable || everybody);
    }),
    mention_everyone:
      everybody && /@(everyone|here)\b/.test(content) && (!allowed || allowed.parse?.includes('everyone') || false),
  };
}

function referenceOf({ channel, body, referenced: target }: Source): Json {
  const wanted = body.message_reference;
  if (!wanted) return {};
  return {
    type: wanted.type === MessageReferenceType.Forward ? MessageType.Default : MessageType.Reply,
    message_reference: {
      type: wanted.type ?? 0,
      message_id: wanted.message_id,
      channel_id: channel.id,
      ...(channel.guildId && { guild_id: channel.guildId }),
    },
    referenced_message: target && !target.deleted ? target.message : null,
  };
}

function tidyEmbed(embed: Json): Json {
  const out: Json = { type: 'rich', ...embed };
  for (const key of Object.keys(out))
    if (out[key] === null || out[key] === undefined || out[key] === '') delete out[key];
  for (const key of ['title', 'description'] as const) if (out[key]) out[key] = out[key].trim();
  for (const key of ['image', 'thumbnail'] as const)
    if (out[key]?.url) out[key] = { url: out[key].url, proxy_url: out[key].url, width: 0, height: 0 };
  if (out.timestamp) out.timestamp = iso(Date.parse(out.timestamp));
  if (out.fields)
    out.fields = out.fields.map((field: Json) => ({
      name: field.name.trim(),
      value: field.value.trim(),
      inline: field.inline ?? false,
    }));
  return out;
}
