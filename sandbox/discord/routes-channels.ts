import { type APIMessage, ChannelType, MessageFlags, PermissionFlagsBits } from 'discord.js';
import { holdsMessages, isThread } from './channel-types.ts';
import type { MessageState, PermissionName } from './control.ts';
import type { Core } from './core.ts';
import { createFieldErrors, DiscordError, errors } from './errors.ts';
import { checkEdit, checkMessage, isEmpty } from './message-rules.ts';
import { notifyChannel, notifyThread } from './notify.ts';
import { apiChannel, withoutContent } from './objects.ts';
import { accessible, botPermissions, isLockedOut, sending } from './permissions.ts';
import { type Call, Created, on, type Route } from './route.ts';
import { type Json, validate } from './validate.ts';
import type { Channel } from './world.ts';

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
    notifyThread(core, channel, 'UPDATE');
  }
  return core.messages.create({ channel, author: core.world.users.get(core.world.botId)!, body, uploads }).message;
}

/** @throws unless everybody in the channel can see the message. */
function publicMessage(core: Core, call: Call): MessageState {
  const channel = accessible(core.world, call.params.channel!);
  const state = core.messages.get(call.params.message!);
  if (!state || state.deleted || state.visibleTo !== null || state.channelId !== channel.id)
    throw errors.unknownMessage();
  return state;
}

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
  checkEdit(state.message, body, { kind: 'message-edit', uploads }, core.strict);
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

function addThread(core: Core, parent: Channel, fields: Pick<Channel, 'id' | 'type' | 'name'>): Channel {
  return core.world.addChannel({
    ...fields,
    guildId: parent.guildId,
    parentId: parent.id,
    ownerId: core.world.botId,
  });
}

function openThread(core: Core, call: Call, onMessage: boolean): Json {
  const parent = accessible(core.world, call.params.channel!, ['CreatePublicThreads']);
  if (core.strict) validate(onMessage ? 'thread-on-message' : 'thread', call.body);
  const source = onMessage ? publicMessage(core, call) : undefined;
  if (source && core.world.channels.has(source.id))
    throw new DiscordError(400, 160004, 'A thread has already been created for this message');
  const news = parent.type === ChannelType.GuildAnnouncement;
  const open = news ? ChannelType.AnnouncementThread : ChannelType.PublicThread;
  const type = onMessage ? open : (call.body.type ?? ChannelType.PrivateThread);
  const thread = addThread(core, parent, { id: source?.id ?? core.nextId(), type, name: call.body.name });
  if (source) {
    const flags = (source.message.flags ?? 0) | MessageFlags.HasThread;
    source.message = { ...source.message, flags, thread: apiChannel(core.world, thread) };
  }
  notifyThread(core, thread, 'CREATE');
  return apiChannel(core.world, thread);
}

/** The first message has the post's id. */
function openPost(core: Core, call: Call): Json {
  const forum = accessible(core.world, call.params.channel!, ['SendMessages']);
  const { message = {}, ...post } = call.body;
  if (core.strict) {
    validate('forum-post', call.body);
    checkMessage(message, { kind: 'message', uploads: call.uploads });
  }
  if (message.embeds?.length > 0) accessible(core.world, forum.id, ['EmbedLinks']);
  if (isEmpty(message, call.uploads)) throw errors.emptyMessage();
  const thread = addThread(core, forum, { id: core.nextId(), type: ChannelType.PublicThread, name: post.name });
  notifyThread(core, thread, 'CREATE');
  const author = core.world.users.get(core.world.botId)!;
  const first = core.messages.create({ channel: thread, author, body: message, uploads: call.uploads, id: thread.id });
  return { ...apiChannel(core.world, thread), message: first.message };
}

function editChannel(core: Core, call: Call): Json {
  const channel = accessible(core.world, call.params.channel!);
  accessible(core.world, channel.id, [isThread(channel) ? 'ManageThreads' : 'ManageChannels']);
  const { name, topic, archived, locked } = call.body;
  if (core.strict && isThread(channel)) validate('thread-edit', call.body);
  else if (core.strict && name !== undefined && !(typeof name === 'string' && /^.{1,100}$/s.test(name))) {
    const found = createFieldErrors();
    found.add(['name'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.');
    found.throwIfAny();
  }
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

function read(core: Core, call: Call): APIMessage {
  const state = publicMessage(core, call);
  if (state.guildId !== null) accessible(core.world, state.channelId, ['ReadMessageHistory']);
  return readable(core, state);
}

function crosspost(core: Core, call: Call): APIMessage {
  const state = publicMessage(core, call);
  accessible(core.world, state.channelId, ['SendMessages']);
  return core.messages.edit(state, {}, [], (state.message.flags ?? 0) | MessageFlags.Crossposted).message;
}

function showTyping(core: Core, { params }: Call): void {
  const channel = accessible(core.world, params.channel!);
  accessible(core.world, channel.id, [sending(channel)]);
  core.events.emit({ type: 'typing', channelId: channel.id, userId: core.world.botId });
}

function openAnyThread(core: Core, call: Call): Created {
  const isForum = core.world.channels.get(call.params.channel!)?.type === ChannelType.GuildForum;
  return new Created(isForum ? openPost(core, call) : openThread(core, call, false));
}

const CHANNEL = '/channels/:channel';
const MESSAGES = `${CHANNEL}/messages`;
const MESSAGE = `${MESSAGES}/:message`;

export const CHANNEL_ROUTES: readonly Route[] = [
  on('GET', CHANNEL, ({ world }, { params }) => apiChannel(world, accessible(world, params.channel!))),
  on('PATCH', CHANNEL, editChannel),
  on('DELETE', CHANNEL, removeChannel),
  on('GET', MESSAGES, history),
  on('POST', MESSAGES, send),
  on('GET', MESSAGE, read),
  on('PATCH', MESSAGE, edit),
  on('DELETE', MESSAGE, remove),
  on('POST', `${MESSAGE}/crosspost`, crosspost),
  on('POST', `${MESSAGE}/threads`, (core, call) => new Created(openThread(core, call, true))),
  on('POST', `${CHANNEL}/threads`, openAnyThread),
  on('POST', `${CHANNEL}/typing`, showTyping),
];
