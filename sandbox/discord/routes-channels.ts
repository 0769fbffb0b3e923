/** REST: channels, their messages and threads. */
import { type APIMessage, ChannelType, MessageFlags, PermissionFlagsBits } from 'discord.js';
import { holdsMessages, isThread } from './channel-types.ts';
import type { MessageState, PermissionName } from './control.ts';
import type { Core } from './core.ts';
import { createFieldErrors, DiscordError, errors } from './errors.ts';
import { checkMessage, isEmpty } from './message-rules.ts';
import { notifyChannel, notifyThread } from './notify.ts';
import { apiChannel, withoutContent } from './objects.ts';
import { accessible, botPermissions, isLockedOut, sending } from './permissions.ts';
import { type Call, created, NO_CONTENT, ok, type Route } from './route.ts';
import { type Json, validate } from './validate.ts';
import type { Channel } from './world.ts';

/** Returns a channel in which the bot may send this body. */
function writable(core: Core, call: Call): Channel {
  const channel = accessible(core.world, call.params.channel!);
  if (!holdsMessages(channel)) throw errors.notATextChannel();
  const needed: PermissionName[] = [sending(channel)];
  if (call.body.embeds?.length > 0) needed.push('EmbedLinks');
  if (call.uploads.length > 0) needed.push('AttachFiles');
  if (call.body.message_reference) needed.push('ReadMessageHistory');
  accessible(core.world, channel.id, needed);
  if (isLockedOut(core.world, channel)) throw errors.threadLocked();
  const recipient = core.world.users.get(channel.recipientId ?? '');
  if (recipient && !recipient.acceptsDirectMessages) throw errors.cannotMessageUser();
  return channel;
}

function send(core: Core, call: Call): APIMessage {
  const channel = writable(core, call);
  const { body, uploads } = call;
  if (core.strict) {
    checkMessage(body, { kind: 'message', uploads });
    const target = body.message_reference && core.messages.get(String(body.message_reference.message_id));
    if (body.message_reference && !target && body.message_reference.fail_if_not_exists !== false) {
      const found = createFieldErrors();
      found.add(['message_reference'], 'REPLIES_UNKNOWN_MESSAGE', 'Unknown message');
      found.throwIfAny();
    }
  }
  if (isEmpty(body, uploads)) throw errors.emptyMessage();
  const repeated = body.enforce_nonce && body.nonce != null && core.messages.repeated(String(body.nonce));
  if (repeated) return repeated;
  // A message reopens an archived thread.
  if (channel.archived) {
    core.world.update(channel, { archived: false });
    notifyThread(core, 'THREAD_UPDATE', channel);
  }
  return core.messages.create({ channel, author: core.world.users.get(core.world.botId)!, body, uploads }).message;
}

/** Returns a message that everybody in the channel can see. */
function publicMessage(core: Core, call: Call): MessageState {
  const channel = accessible(core.world, call.params.channel!);
  const state = core.messages.get(call.params.message!);
  if (!state || state.deleted || state.visibleTo !== null || state.channelId !== channel.id)
    throw errors.unknownMessage();
  return state;
}

/** Returns a message as the bot may read it. */
function readable(core: Core, { guildId, message }: MessageState): APIMessage {
  return guildId === null || core.privilegedIntents ? message : withoutContent(core.world, message);
}

function edit(core: Core, call: Call): APIMessage {
  const state = publicMessage(core, call);
  const { body, uploads } = call;
  const own = state.message.author.id === core.world.botId;
  const onlyFlags = Object.keys(body).every((key) => key === 'flags');
  if (!own && !onlyFlags) throw errors.cannotEditOthers();
  if (!own) accessible(core.world, state.channelId, ['ManageMessages']);
  const channel = core.world.channels.get(state.channelId)!;
  if (isLockedOut(core.world, channel)) throw errors.threadLocked();
  // A new message reopens a closed thread; an edit does not.
  if (channel.archived) throw errors.threadArchived();
  const { attachments, flags } = state.message;
  if (core.strict)
    checkMessage(body, { kind: 'message-edit', uploads, existing: attachments.map(({ id }) => id), flags: flags ?? 0 });
  const after = { ...state.message, message_reference: null, ...body };
  if (isEmpty(after, uploads) && (body.attachments ?? attachments).length === 0) throw errors.emptyMessage();
  return core.messages.edit(state, body, uploads).message;
}

function history(core: Core, call: Call): APIMessage[] {
  const channel = accessible(core.world, call.params.channel!);
  if (!holdsMessages(channel)) throw errors.notATextChannel();
  const limit = Number(call.query.limit ?? 50);
  const found = createFieldErrors();
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    found.add(['limit'], 'NUMBER_TYPE_MAX', 'int value should be between 1 and 100.');
  for (const key of ['before', 'after', 'around'])
    if (!/^\d+$/.test(call.query[key] ?? '0'))
      found.add([key], 'NUMBER_TYPE_COERCE', `Value "${call.query[key]}" is not snowflake.`);
  found.throwIfAny();
  // Without permission to read the history, Discord returns an empty list instead of an error.
  if (channel.guildId !== null && !(botPermissions(core.world, channel) & PermissionFlagsBits.ReadMessageHistory))
    return [];
  const all = core.messages.in(channel.id).filter(({ visibleTo }) => visibleTo === null);
  const { before, after, around } = call.query;
  const newest = (list: MessageState[]): APIMessage[] => list.reverse().map((state) => readable(core, state));
  if (around) {
    const index = all.findIndex(({ id }) => BigInt(id) >= BigInt(around));
    const start = Math.max(0, (index < 0 ? all.length : index) - Math.floor(limit / 2));
    return newest(all.slice(start, start + limit));
  }
  if (after) return newest(all.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit));
  return newest((before ? all.filter(({ id }) => BigInt(id) < BigInt(before)) : all).slice(-limit));
}

function remove(core: Core, call: Call): void {
  const state = publicMessage(core, call);
  if (state.message.author.id !== core.world.botId) accessible(core.world, state.channelId, ['ManageMessages']);
  core.messages.remove(state);
}

function openThread(core: Core, call: Call, onMessage: boolean): Json {
  const parent = accessible(core.world, call.params.channel!, ['CreatePublicThreads']);
  if (core.strict) validate(onMessage ? 'thread-on-message' : 'thread', call.body);
  const source = onMessage ? publicMessage(core, call) : undefined;
  if (source && core.world.channels.has(source.id))
    throw new DiscordError(400, 160004, 'A thread has already been created for this message');
  const news = parent.type === ChannelType.GuildAnnouncement;
  const open = news ? ChannelType.AnnouncementThread : ChannelType.PublicThread;
  const thread = core.world.addChannel({
    id: source?.id ?? core.nextId(),
    type: onMessage ? open : (call.body.type ?? ChannelType.PrivateThread),
    name: call.body.name,
    guildId: parent.guildId,
    parentId: parent.id,
    ownerId: core.world.botId,
  });
  if (source) {
    const flags = (source.message.flags ?? 0) | MessageFlags.HasThread;
    source.message = { ...source.message, flags, thread: apiChannel(core.world, thread) };
  }
  notifyThread(core, 'THREAD_CREATE', thread);
  return apiChannel(core.world, thread);
}

/** Opens a post in a forum, with its first message, which has the post's ID. */
function openPost(core: Core, call: Call): Json {
  const forum = accessible(core.world, call.params.channel!, ['SendMessages']);
  const { message = {}, ...post } = call.body;
  if (core.strict) {
    validate('forum-post', call.body);
    checkMessage(message, { kind: 'message', uploads: call.uploads });
  }
  if (message.embeds?.length > 0) accessible(core.world, forum.id, ['EmbedLinks']);
  if (isEmpty(message, call.uploads)) throw errors.emptyMessage();
  const thread = core.world.addChannel({
    id: core.nextId(),
    type: ChannelType.PublicThread,
    name: post.name,
    guildId: forum.guildId,
    parentId: forum.id,
    ownerId: core.world.botId,
  });
  notifyThread(core, 'THREAD_CREATE', thread);
  const author = core.world.users.get(core.world.botId)!;
  const first = core.messages.create({ channel: thread, author, body: message, uploads: call.uploads, id: thread.id });
  return { ...apiChannel(core.world, thread), message: first.message };
}

function editChannel(core: Core, call: Call): Json {
  const channel = accessible(core.world, call.params.channel!, [
    isThread(core.world.channels.get(call.params.channel!) ?? { type: ChannelType.GuildText })
      ? 'ManageThreads'
      : 'ManageChannels',
  ]);
  const { body } = call;
  if (core.strict && isThread(channel)) validate('thread-edit', body);
  if (core.strict && !isThread(channel)) {
    const found = createFieldErrors();
    if (body.name !== undefined && !(typeof body.name === 'string' && body.name.length >= 1 && body.name.length <= 100))
      found.add(['name'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.');
    found.throwIfAny();
  }
  const { name, topic, archived, locked } = body;
  core.world.update(channel, { name, topic, archived, locked });
  notifyChannel(core, channel, 'UPDATE');
  return apiChannel(core.world, channel);
}

function removeChannel(core: Core, call: Call): Json {
  const channel = accessible(core.world, call.params.channel!, ['ManageChannels']);
  const gone = apiChannel(core.world, channel);
  notifyChannel(core, channel, 'DELETE');
  return gone;
}

/** The routes of channels, their messages and threads. */
export function channelRoutes(core: Core): Route[] {
  const messages = '/channels/:channel/messages';
  const message = `${messages}/:message`;
  return [
    {
      method: 'GET',
      path: '/channels/:channel',
      run: ({ params }) => ok(apiChannel(core.world, accessible(core.world, params.channel!))),
    },
    { method: 'PATCH', path: '/channels/:channel', run: (call) => ok(editChannel(core, call)) },
    { method: 'DELETE', path: '/channels/:channel', run: (call) => ok(removeChannel(core, call)) },
    { method: 'GET', path: messages, run: (call) => ok(history(core, call)) },
    { method: 'POST', path: messages, run: (call) => ok(send(core, call)) },
    {
      method: 'GET',
      path: message,
      run: (call) => {
        const state = publicMessage(core, call);
        if (state.guildId !== null) accessible(core.world, state.channelId, ['ReadMessageHistory']);
        return ok(readable(core, state));
      },
    },
    { method: 'PATCH', path: message, run: (call) => ok(edit(core, call)) },
    {
      method: 'DELETE',
      path: message,
      run: (call) => {
        remove(core, call);
        return NO_CONTENT;
      },
    },
    {
      method: 'POST',
      path: `${message}/crosspost`,
      run: (call) => {
        const state = publicMessage(core, call);
        accessible(core.world, state.channelId, ['SendMessages']);
        const flags = (state.message.flags ?? 0) | MessageFlags.Crossposted;
        return ok(core.messages.edit(state, {}, [], flags).message);
      },
    },
    {
      method: 'POST',
      path: `${message}/threads`,
      run: (call) => created(openThread(core, call, true)),
    },
    {
      method: 'POST',
      path: '/channels/:channel/threads',
      run: (call) => {
        const isForum = core.world.channels.get(call.params.channel!)?.type === ChannelType.GuildForum;
        return created(isForum ? openPost(core, call) : openThread(core, call, false));
      },
    },
    {
      method: 'POST',
      path: '/channels/:channel/typing',
      run: ({ params }) => {
        const channel = accessible(core.world, params.channel!);
        accessible(core.world, channel.id, [sending(channel)]);
        core.events.emit({ type: 'typing', channelId: channel.id, userId: core.world.botId });
        return NO_CONTENT;
      },
    },
  ];
}
