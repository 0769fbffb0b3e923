/** Keeps the newest messages with their histories, including deleted ones. */
import { type APIMessage, GatewayIntentBits as Intent, PermissionFlagsBits } from 'discord.js';
import { MINUTE } from '../../src/domain/clock.ts';
import type { Base } from './base.ts';
import type { MessageState, MessageVersion } from './control.ts';
import { errors } from './errors.ts';
import type { Files } from './files.ts';
import type { Gateway } from './gateway.ts';
import { editedMessage, newMessage } from './message-content.ts';
import type { Upload } from './message-rules.ts';
import { botPermissions } from './permissions.ts';
import type { Json } from './validate.ts';
import type { Channel, User } from './world.ts';

const MAX_MESSAGES = 20_000;
const MAX_VERSIONS = 100;
const NONCE_MS = 5 * MINUTE;

interface Draft {
  channel: Channel;
  author: User;
  body: Json;
  uploads: readonly Upload[];
  id?: string;
  /** The only person who sees an ephemeral message. */
  visibleTo?: string;
  /** Fields that the body does not decide: type, interaction metadata, flags… */
  extra?: Json;
}

export type Messages = ReturnType<typeof createMessages>;

export function createMessages({ world, clock, events, nextId }: Base, files: Files, gateway: Gateway) {
  let created = 0;
  const states = new Map<string, MessageState>();
  const byChannel = new Map<string, MessageState[]>();
  const byNonce = new Map<string, MessageState>();
  const referencedBy = (body: Json): MessageState | undefined =>
    body.message_reference ? states.get(String(body.message_reference.message_id)) : undefined;

  /** The bot's earlier message with this nonce, in any channel. @throws 10008 when it was deleted since. */
  function repeated(nonce: string): APIMessage | undefined {
    const state = byNonce.get(nonce);
    if (!state || Date.parse(state.history[0]!.at) + NONCE_MS <= clock.now()) return undefined;
    if (state.deleted) throw errors.unknownMessage();
    return state.message;
  }

  function create({ channel, author, body, uploads, id = nextId(), visibleTo, extra }: Draft): MessageState {
    const source = { channel, author, body, referenced: referencedBy(body) };
    const message = newMessage(world, source, { id, at: clock.now(), extra });
    files.attach(message, body, uploads, null);
    const state: MessageState = {
      id,
      channelId: channel.id,
      guildId: channel.guildId,
      visibleTo: visibleTo ?? null,
      deleted: false,
      message,
      history: [],
    };
    if (visibleTo === undefined) world.update(channel, { lastMessageId: id });
    if (body.enforce_nonce && body.nonce != null) byNonce.set(String(body.nonce), state);
    states.set(id, state);
    byChannel.set(channel.id, byChannel.get(channel.id) ?? []);
    byChannel.get(channel.id)!.push(state);
    created++;
    if (states.size > MAX_MESSAGES) drop(states.values().next().value!);
    record(state, 'created');
    return state;
  }

  function drop({ id, channelId, message }: MessageState): void {
    states.delete(id);
    byChannel.get(channelId)?.shift();
    if (message.nonce !== undefined) byNonce.delete(String(message.nonce));
    files.drop(message);
  }

  /** With `flags`, it completes a reply that was still loading. */
  function edit(state: MessageState, body: Json, uploads: readonly Upload[], flags?: number): MessageState {
    const channel = world.channels.get(state.channelId)!;
    const source = { channel, body, referenced: referencedBy(body) };
    const message = editedMessage(world, state.message, source, { at: clock.now(), flags });
    files.attach(message, body, uploads, message.attachments);
    state.message = message;
    record(state, 'edited');
    return state;
  }

  function remove(state: MessageState): void {
    state.deleted = true;
    record(state, 'deleted');
  }

  function record(state: MessageState, change: MessageVersion['change']): void {
    state.history.push({ change, at: new Date(clock.now()).toISOString(), message: state.message });
    if (state.history.length > MAX_VERSIONS) state.history.splice(1, state.history.length - MAX_VERSIONS);
    events.emit({ type: 'message', change, message: { ...state, history: [...state.history] } });
    const channel = world.channels.get(state.channelId);
    if (!channel || state.visibleTo !== null) return;
    const guild = world.guildOf(channel);
    const isSeen = (botPermissions(world, channel) & PermissionFlagsBits.ViewChannel) !== 0n;
    if (guild && !(guild.available && isSeen)) return;
    const { id, guildId, message } = state;
    const data = change === 'deleted' ? { id, channel_id: channel.id } : message;
    const name = { created: 'MESSAGE_CREATE', edited: 'MESSAGE_UPDATE', deleted: 'MESSAGE_DELETE' }[change];
    const intents = guild ? Intent.GuildMessages : Intent.DirectMessages;
    gateway.dispatch(name, { ...data, ...(guildId !== null && { guild_id: guildId }) }, { guildId, intents });
  }

  return {
    get created() {
      return created;
    },
    /** Even if it is deleted. */
    get: (id: string): MessageState | undefined => states.get(id),
    /** Oldest first, without deleted messages. */
    in: (channelId: string): MessageState[] => (byChannel.get(channelId) ?? []).filter(({ deleted }) => !deleted),
    all: (channelId?: string): MessageState[] =>
      [...states.values()].filter((state) => channelId === undefined || state.channelId === channelId),
    repeated,
    create,
    edit,
    remove,
    /** Without an event, for a deleted channel. */
    removeChannel(channelId: string): void {
      for (const state of byChannel.get(channelId) ?? []) state.deleted = true;
      byChannel.delete(channelId);
    },
    forget(): void {
      for (const map of [states, byChannel, byNonce]) map.clear();
      files.forget();
      created = 0;
    },
  };
}
