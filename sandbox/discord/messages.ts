/** Messages: created from bodies, edited, deleted, with their histories. */
import type { APIMessage } from 'discord.js';
import type { Clock } from './clock.ts';
import type { MessageState, MessageVersion } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Files } from './files.ts';
import { editedMessage, newMessage } from './message-content.ts';
import type { Upload } from './message-rules.ts';
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
  /** Default: a new one. */
  id?: string;
  /** The only person who sees it. */
  visibleTo?: string;
  /** Fields that the body does not decide: type, interaction metadata, flags… */
  extra?: Json;
}

/** The messages that are kept. */
export type Messages = ReturnType<typeof createMessages>;

/** Creates the store of messages. `dispatch` sends their events to the bot. */
export function createMessages({
  world,
  clock,
  events,
  files,
  nextId,
  dispatch,
}: {
  world: World;
  clock: Clock;
  events: Events;
  files: Files;
  nextId: () => string;
  dispatch: (name: string, channel: Channel, data: Json) => void;
}) {
  let created = 0;
  const states = new Map<string, MessageState>();
  const byChannel = new Map<string, string[]>();
  const nonces = createNonces(clock);

  /** Returns the message with this id, even if it is deleted. */
  function get(id: string): MessageState | undefined {
    return states.get(id);
  }

  /** Returns the messages of a channel, oldest first, without deleted ones. */
  function messagesIn(channelId: string): MessageState[] {
    return (byChannel.get(channelId) ?? []).map((id) => states.get(id)!).filter(({ deleted }) => !deleted);
  }

  function all(): MessageState[] {
    return [...states.values()];
  }

  function forget(): void {
    for (const map of [states, byChannel, nonces]) map.clear();
    files.forget();
    created = 0;
  }

  /** Returns the bot's earlier message with this nonce, in any channel. @throws 10008 when it was deleted since. */
  function repeated(nonce: string): APIMessage | undefined {
    const id = nonces.get(nonce);
    if (id === undefined) return undefined;
    const state = states.get(id);
    if (!state || state.deleted) throw errors.unknownMessage();
    return state.message;
  }

  function referencedBy(body: Json): MessageState | undefined {
    return body.message_reference ? states.get(String(body.message_reference.message_id)) : undefined;
  }

  function create(draft: Draft): MessageState {
    const { channel, author, body } = draft;
    const id = draft.id ?? nextId();
    const source = { channel, author, body, referenced: referencedBy(body) };
    const message = newMessage(world, source, { id, at: clock.now(), extra: draft.extra });
    files.attach(message, body, draft.uploads, null);
    const state: MessageState = {
      id,
      channelId: channel.id,
      guildId: channel.guildId,
      visibleTo: draft.visibleTo ?? null,
      deleted: false,
      message,
      history: [],
    };
    states.set(id, state);
    const list = byChannel.get(channel.id);
    if (list) list.push(id);
    else byChannel.set(channel.id, [id]);
    created += 1;
    if (draft.visibleTo === undefined) channel.lastMessageId = id;
    if (body.enforce_nonce && body.nonce != null) nonces.set(String(body.nonce), id);
    prune();
    record(state, 'created');
    return state;
  }

  /** Changes the fields in the body. With `flags`, it completes a reply that was still loading. */
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

  /** Deletes a deleted channel's messages without an event. */
  function removeChannel(channelId: string): void {
    for (const id of byChannel.get(channelId) ?? []) {
      const state = states.get(id)!;
      if (!state.deleted) state.deleted = true;
    }
    byChannel.delete(channelId);
  }

  function prune(): void {
    for (const [id, state] of states) {
      if (states.size <= KEPT) break;
      states.delete(id);
      byChannel.get(state.channelId)?.shift();
      files.drop(state.message);
    }
  }

  function record(state: MessageState, change: MessageVersion['change']): void {
    state.history.push({ change, at: new Date(clock.now()).toISOString(), message: state.message });
    if (state.history.length > HISTORY) state.history.splice(1, state.history.length - HISTORY);
    events.emit({ type: 'message', change, message: { ...state, history: [...state.history] } });
    const channel = world.channels.get(state.channelId);
    if (!channel || state.visibleTo !== null) return;
    const guild = state.guildId === null ? {} : { guild_id: state.guildId };
    if (change === 'deleted')
      dispatch('MESSAGE_DELETE', channel, { id: state.id, channel_id: state.channelId, ...guild });
    else
      dispatch(change === 'created' ? 'MESSAGE_CREATE' : 'MESSAGE_UPDATE', channel, {
        ...state.message,
        ...guild,
      });
  }

  return {
    get created() {
      return created;
    },
    get,
    in: messagesIn,
    all,
    forget,
    repeated,
    create,
    edit,
    remove,
    removeChannel,
  };
}

/** Creates the memory of nonces: which message had which, for as long as Discord checks that. */
function createNonces(clock: Clock) {
  const known = new Map<string, { at: number; id: string }>();
  return {
    get(nonce: string): string | undefined {
      const found = known.get(nonce);
      return found && found.at + NONCE_MS > clock.now() ? found.id : undefined;
    },
    set(nonce: string, id: string): void {
      const now = clock.now();
      for (const [old, { at }] of known) {
        if (at + NONCE_MS > now) break;
        known.delete(old);
      }
      known.delete(nonce);
      known.set(nonce, { at: now, id });
    },
    clear: () => known.clear(),
  };
}
