/** Messages: created from bodies, edited, deleted, with their histories. */
import type { APIMessage } from 'discord.js';
import type { Clock } from '../../src/domain/clock.ts';
import type { MessageState, MessageVersion } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Files } from './files.ts';
import { createMessageArchive } from './message-archive.ts';
import { editedMessage, newMessage } from './message-content.ts';
import type { Upload } from './message-rules.ts';
import { createNonces } from './nonces.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

const MAX_VERSIONS = 100;

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

interface MessagesOptions {
  world: World;
  clock: Clock;
  events: Events;
  files: Files;
  nextId: () => string;
  /** Sends an event to the bot. */
  dispatch: (name: string, channel: Channel, data: Json) => void;
}

/** The messages that are kept. */
export type Messages = ReturnType<typeof createMessages>;

/** Creates the store of messages. */
export function createMessages(options: MessagesOptions) {
  const { world, clock, files, nextId } = options;
  const archive = createMessageArchive(files);
  const nonces = createNonces(clock);
  const record = createRecorder(options);
  const referencedBy = (body: Json): MessageState | undefined =>
    body.message_reference ? archive.get(String(body.message_reference.message_id)) : undefined;

  /** Returns the bot's earlier message with this nonce, in any channel. @throws 10008 when it was deleted since. */
  function repeated(nonce: string): APIMessage | undefined {
    const id = nonces.get(nonce);
    if (id === undefined) return undefined;
    const state = archive.get(id);
    if (!state || state.deleted) throw errors.unknownMessage();
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
    if (body.enforce_nonce && body.nonce != null) nonces.set(String(body.nonce), id);
    archive.add(state);
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

  return {
    get created() {
      return archive.created;
    },
    get: archive.get,
    in: archive.in,
    all: archive.all,
    removeChannel: archive.removeChannel,
    repeated,
    create,
    edit,
    remove(state: MessageState): void {
      state.deleted = true;
      record(state, 'deleted');
    },
    forget(): void {
      archive.clear();
      nonces.clear();
    },
  };
}

/** Returns a function that adds a change to a message's history and sends it to the listeners and to the bot. */
function createRecorder({ world, clock, events, dispatch }: MessagesOptions) {
  return (state: MessageState, change: MessageVersion['change']): void => {
    state.history.push({ change, at: new Date(clock.now()).toISOString(), message: state.message });
    if (state.history.length > MAX_VERSIONS) state.history.splice(1, state.history.length - MAX_VERSIONS);
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
  };
}
