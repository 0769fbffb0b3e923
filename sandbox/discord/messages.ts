/** Messages: created from bodies, edited, deleted, with their histories. */
import { type APIMessage, MessageFlags, MessageReferenceType, MessageType, PermissionFlagsBits } from 'discord.js';
import type { Clock } from '../../src/domain/clock.ts';
import { iso } from './clock.ts';
import type { MessageState, MessageVersion } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Files } from './files.ts';
import { componentsIn, type Upload } from './message-rules.ts';
import { apiUser } from './objects.ts';
import { botPermissions } from './permissions.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

const KEPT = 20_000;
const HISTORY = 100;
const NONCE_MS = 5 * 60_000;

interface Draft {
  channel: Channel;
  author: User;
  body: Json;
  uploads: readonly Upload[];
  /** The only person who sees it. */
  visibleTo?: string;
  /** Fields that the body does not decide: type, interaction metadata, flags… */
  extra?: Json;
}

/** The messages that are kept. */
export class Messages {
  created = 0;
  private readonly world: World;
  private readonly clock: Clock;
  private readonly events: Events;
  private readonly nextId: () => string;
  private readonly dispatch: (name: string, channel: Channel, data: Json) => void;
  private readonly states = new Map<string, MessageState>();
  private readonly byChannel = new Map<string, string[]>();
  private readonly files: Files;
  private readonly nonces = new Map<string, { at: number; id: string }>();

  constructor(parts: {
    world: World;
    clock: Clock;
    events: Events;
    files: Files;
    nextId: () => string;
    dispatch: (name: string, channel: Channel, data: Json) => void;
  }) {
    this.world = parts.world;
    this.clock = parts.clock;
    this.events = parts.events;
    this.files = parts.files;
    this.nextId = parts.nextId;
    this.dispatch = parts.dispatch;
  }

  /** Returns the message with this id, even if it is deleted. */
  get(id: string): MessageState | undefined {
    return this.states.get(id);
  }

  /** Returns the messages of a channel, oldest first, without deleted ones. */
  in(channelId: string): MessageState[] {
    return (this.byChannel.get(channelId) ?? []).map((id) => this.states.get(id)!).filter(({ deleted }) => !deleted);
  }

  all(): MessageState[] {
    return [...this.states.values()];
  }

  forget(): void {
    for (const map of [this.states, this.byChannel, this.nonces]) map.clear();
    this.files.forget();
    this.created = 0;
  }

  /** Returns the bot's earlier message with this nonce, in any channel. @throws 10008 when it was deleted since. */
  repeated(nonce: string): APIMessage | undefined {
    const known = this.nonces.get(nonce);
    if (!known || known.at + NONCE_MS <= this.clock.now()) return undefined;
    const state = this.states.get(known.id);
    if (!state || state.deleted) throw errors.unknownMessage();
    return state.message;
  }

  create(draft: Draft): MessageState {
    const { channel, body } = draft;
    const id = this.nextId();
    const message = {
      type: MessageType.Default,
      tts: body.tts ?? false,
      pinned: false,
      id,
      channel_id: channel.id,
      author: apiUser(draft.author),
      timestamp: iso(this.clock.now()),
      edited_timestamp: null,
      flags:
        Number(body.flags ?? 0) &
        (MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications | MessageFlags.IsComponentsV2),
      ...this.content(channel, draft.author, body),
      attachments: [],
      ...(body.nonce !== undefined && body.nonce !== null && { nonce: body.nonce }),
      ...this.reference(channel, body),
      ...draft.extra,
    } as Json;
    this.files.attach(message, body, draft.uploads, null);
    const state: MessageState = {
      id,
      channelId: channel.id,
      guildId: channel.guildId,
      visibleTo: draft.visibleTo ?? null,
      deleted: false,
      message,
      history: [],
    };
    this.states.set(id, state);
    const list = this.byChannel.get(channel.id);
    if (list) list.push(id);
    else this.byChannel.set(channel.id, [id]);
    this.created += 1;
    if (draft.visibleTo === undefined) channel.lastMessageId = id;
    if (body.enforce_nonce && body.nonce != null) this.remember(String(body.nonce), id);
    this.prune();
    this.record(state, 'created');
    return state;
  }

  /** Changes the fields in the body. With `flags`, it completes a reply that was still loading. */
  edit(state: MessageState, body: Json, uploads: readonly Upload[], flags?: number): MessageState {
    const channel = this.world.channels.get(state.channelId)!;
    const message = { ...state.message } as Json;
    if (flags === undefined) message.edited_timestamp = iso(this.clock.now());
    const fresh = this.content(channel, this.world.users.get(message.author.id)!, body);
    for (const key of ['content', 'embeds', 'components'] as const)
      if (body[key] !== undefined) message[key] = fresh[key];
    if (body.content !== undefined)
      for (const key of ['mentions', 'mention_roles', 'mention_everyone'] as const) message[key] = fresh[key];
    if (body.flags !== undefined && body.flags !== null)
      message.flags =
        (message.flags & ~MessageFlags.SuppressEmbeds) |
        (Number(body.flags) & (MessageFlags.SuppressEmbeds | MessageFlags.IsComponentsV2));
    if (flags !== undefined) message.flags = flags | (Number(body.flags ?? 0) & MessageFlags.IsComponentsV2);
    this.files.attach(message, body, uploads, message.attachments);
    state.message = message;
    this.record(state, 'edited');
    return state;
  }

  remove(state: MessageState): void {
    state.deleted = true;
    this.record(state, 'deleted');
  }

  /** Deletes a deleted channel's messages without an event. */
  removeChannel(channelId: string): void {
    for (const id of this.byChannel.get(channelId) ?? []) {
      const state = this.states.get(id)!;
      if (!state.deleted) state.deleted = true;
    }
    this.byChannel.delete(channelId);
  }

  private remember(nonce: string, id: string): void {
    const now = this.clock.now();
    for (const [old, { at }] of this.nonces) {
      if (at + NONCE_MS > now) break;
      this.nonces.delete(old);
    }
    this.nonces.delete(nonce);
    this.nonces.set(nonce, { at: now, id });
  }

  private prune(): void {
    for (const [id, state] of this.states) {
      if (this.states.size <= KEPT) break;
      this.states.delete(id);
      this.byChannel.get(state.channelId)?.shift();
      this.files.drop(state.message);
    }
  }

  private record(state: MessageState, change: MessageVersion['change']): void {
    state.history.push({ change, at: new Date(this.clock.now()).toISOString(), message: state.message });
    if (state.history.length > HISTORY) state.history.splice(1, state.history.length - HISTORY);
    this.events.emit({ type: 'message', change, message: { ...state, history: [...state.history] } });
    const channel = this.world.channels.get(state.channelId);
    if (!channel || state.visibleTo !== null) return;
    const guild = state.guildId === null ? {} : { guild_id: state.guildId };
    if (change === 'deleted')
      this.dispatch('MESSAGE_DELETE', channel, { id: state.id, channel_id: state.channelId, ...guild });
    else
      this.dispatch(change === 'created' ? 'MESSAGE_CREATE' : 'MESSAGE_UPDATE', channel, {
        ...state.message,
        ...guild,
      });
  }

  private content(channel: Channel, author: User, body: Json): Json {
    const content = typeof body.content === 'string' ? body.content.trim() : '';
    let id = 0;
    const components = body.components?.length ? structuredClone(body.components) : [];
    for (const [component] of componentsIn(components, [])) component.id ??= ++id;
    return {
      content,
      embeds: (body.embeds ?? []).map(tidyEmbed),
      components,
      ...this.mentions(channel, author, content, body),
    };
  }

  /** Returns who is notified: the mentions in the text that `allowed_mentions` and permissions allow. */
  private mentions(channel: Channel, author: User, content: string, body: Json): Json {
    const allowed = body.allowed_mentions;
    const may = (kind: 'users' | 'roles', id: string): boolean =>
      !allowed || allowed.parse?.includes(kind) || allowed[kind]?.includes(id) || false;
    const guild = this.world.guildOf(channel);
    const everybody =
      author.id !== this.world.botId ||
      (botPermissions(this.world, channel) & PermissionFlagsBits.MentionEveryone) !== 0n;
    const ids = (pattern: RegExp): string[] => [...new Set([...content.matchAll(pattern)].map((match) => match[1]!))];
    const users = ids(/<@!?(\d+)>/g).filter((id) => may('users', id) && this.world.users.has(id));
    const replied =
      body.message_reference && allowed?.replied_user !== false
        ? this.states.get(body.message_reference.message_id)
        : undefined;
    if (replied && (!allowed || allowed.replied_user) && !users.includes(replied.message.author.id))
      users.push(replied.message.author.id);
    return {
      mentions: users.map((id) => apiUser(this.world.users.get(id)!)),
      mention_roles: ids(/<@&(\d+)>/g).filter((id) => {
        const role = guild?.roles.get(id);
        return role && may('roles', id) && (role.mentionable || everybody);
      }),
      mention_everyone:
        everybody && /@(everyone|here)\b/.test(content) && (!allowed || allowed.parse?.includes('everyone') || false),
    };
  }

  private reference(channel: Channel, body: Json): Json {
    const wanted = body.message_reference;
    if (!wanted) return {};
    const target = this.states.get(String(wanted.message_id));
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
