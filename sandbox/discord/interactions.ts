/** Interactions from the press of a key to the last followup: tokens, the one acknowledgement, deadlines, replies. */
import { randomBytes } from 'node:crypto';
import { InteractionResponseType as Answer, InteractionType, MessageFlags, MessageType } from 'discord.js';
import { checkAnswer, type Prepared } from './answer-rules.ts';
import type { Clock } from './clock.ts';
import type { InteractionRequest, InteractionState, MessageState } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Gateway } from './gateway.ts';
import { checkMessage, isEmpty, type Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { apiUser } from './objects.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

const ACK_MS = 3000;
const LIFE_MS = 15 * 60_000;
const KEPT = 2000;

interface Entry {
  id: string;
  token: string;
  kind: InteractionRequest['kind'];
  prepared: Prepared;
  user: User;
  channel: Channel;
  at: number;
  status: InteractionState['status'];
  responseType: number | null;
  ackMs: number | null;
  original: MessageState | null;
  followups: MessageState[];
  modal: Json;
  choices: Json;
  failure: string | null;
  stopDeadline: () => void;
  waiting: Set<{ check: () => boolean; fail: (error: Error) => void }>;
}

/** An interaction that is under way. */
export class Interaction {
  private readonly owner: Interactions;
  readonly id: string;

  constructor(owner: Interactions, id: string) {
    this.owner = owner;
    this.id = id;
  }

  /** As it stands now. */
  get state(): InteractionState {
    return this.owner.state(this.id);
  }

  /** Resolves as soon as the state satisfies `condition`, at once if it does already. */
  until(condition: (state: InteractionState) => boolean): Promise<InteractionState> {
    return this.owner.until(this.id, condition);
  }

  /** Resolves when the bot acknowledged it, or did not in time. */
  acknowledged(): Promise<InteractionState> {
    return this.until(({ status }) => status !== 'waiting');
  }

  /** Resolves when it failed, or was answered with more than "thinking…". */
  final(): Promise<InteractionState> {
    return this.until(({ status, loading }) => status !== 'waiting' && !loading);
  }
}

export class Interactions {
  private readonly world: World;
  private readonly clock: Clock;
  private readonly events: Events;
  private readonly messages: Messages;
  private readonly gateway: Gateway;
  private readonly nextId: () => string;
  private readonly strict: boolean;
  private readonly entries = new Map<string, Entry>();
  private readonly byToken = new Map<string, Entry>();
  private readonly byMessage = new Map<string, Entry>();

  constructor(parts: {
    world: World;
    clock: Clock;
    events: Events;
    messages: Messages;
    gateway: Gateway;
    nextId: () => string;
    strict: boolean;
  }) {
    this.world = parts.world;
    this.clock = parts.clock;
    this.events = parts.events;
    this.messages = parts.messages;
    this.gateway = parts.gateway;
    this.nextId = parts.nextId;
    this.strict = parts.strict;
    this.events.on((event) => {
      const owner = event.type === 'message' ? this.byMessage.get(event.message.id) : undefined;
      if (owner) this.changed(owner);
    });
  }

  /** Sends it to the bot; it fails by itself when no acknowledgement comes in time. */
  begin(request: InteractionRequest, prepared: Prepared): Interaction {
    const id = this.nextId();
    const token = Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url');
    const entry: Entry = {
      id,
      token,
      kind: request.kind,
      prepared,
      user: this.world.users.get(request.userId)!,
      channel: this.world.channels.get(request.channelId)!,
      at: this.clock.now(),
      status: 'waiting',
      responseType: null,
      ackMs: null,
      original: null,
      followups: [],
      modal: null,
      choices: null,
      failure: null,
      stopDeadline: this.clock.after(ACK_MS, () => this.fail(entry)),
      waiting: new Set(),
    };
    this.entries.set(id, entry);
    this.byToken.set(token, entry);
    this.prune();
    this.changed(entry);
    this.gateway.dispatch(
      'INTERACTION_CREATE',
      { ...prepared.payload, id, token, type: prepared.type, version: 1, application_id: this.world.botId },
      { guildId: entry.channel.guildId, intents: 0 },
    );
    return new Interaction(this, id);
  }

  state(id: string): InteractionState {
    const entry = this.entries.get(id);
    if (!entry) throw new Error(`There is no interaction ${id}.`);
    return {
      id: entry.id,
      kind: entry.kind,
      name: entry.prepared.name,
      userId: entry.user.id,
      channelId: entry.channel.id,
      guildId: entry.channel.guildId,
      at: new Date(entry.at).toISOString(),
      status: entry.status,
      responseType: entry.responseType,
      ackMs: entry.ackMs,
      loading: this.loading(entry),
      reply: entry.original,
      followups: [...entry.followups],
      modal: entry.modal,
      choices: entry.choices,
      failure: entry.failure,
    };
  }

  has(id: string): boolean {
    return this.entries.has(id);
  }

  /** The last 100, oldest first. */
  states(): InteractionState[] {
    return [...this.entries.keys()].slice(-100).map((id) => this.state(id));
  }

  /** The message behind an interaction that was answered with a form. */
  sourceOf(id: string): MessageState | null {
    return this.entries.get(id)?.prepared.source ?? null;
  }

  until(id: string, condition: (state: InteractionState) => boolean): Promise<InteractionState> {
    return new Promise((resolve, reject) => {
      const entry = this.entries.get(id);
      const waiter = {
        check: () => {
          const state = this.state(id);
          if (!condition(state)) return false;
          resolve(state);
          return true;
        },
        fail: reject,
      };
      if (!waiter.check()) entry!.waiting.add(waiter);
    });
  }

  /** Takes the bot's answer to `POST /interactions/{id}/{token}/callback`. */
  respond(id: string, token: string, body: Json, uploads: readonly Upload[]): Json {
    const entry = this.entries.get(id);
    const late = entry && this.clock.now() - entry.at > ACK_MS && entry.status !== 'acknowledged';
    if (!entry || entry.token !== token || late || entry.status === 'failed') throw errors.unknownInteraction();
    if (entry.status === 'acknowledged') throw errors.alreadyAcknowledged();
    checkAnswer(entry.prepared, body, uploads, this.strict);
    entry.stopDeadline();
    entry.status = 'acknowledged';
    entry.responseType = body.type;
    entry.ackMs = this.clock.now() - entry.at;
    const data = body.data ?? {};
    switch (body.type as Answer) {
      case Answer.ChannelMessageWithSource:
        this.setOriginal(entry, this.post(entry, data, uploads, 0, data.flags));
        break;
      case Answer.DeferredChannelMessageWithSource:
        this.setOriginal(entry, this.post(entry, {}, [], MessageFlags.Loading, data.flags));
        break;
      case Answer.DeferredMessageUpdate:
        this.setOriginal(entry, entry.prepared.source!);
        break;
      case Answer.UpdateMessage:
        this.setOriginal(entry, entry.prepared.source!);
        this.messages.edit(entry.original!, data, uploads);
        break;
      case Answer.ApplicationCommandAutocompleteResult:
        entry.choices = (data.choices ?? []).filter((choice: Json) => choice !== null);
        break;
      case Answer.Modal:
        entry.modal = data;
        break;
      case Answer.Pong:
      case Answer.PremiumRequired:
      case Answer.LaunchActivity:
        break;
    }
    this.changed(entry);
    return this.callbackResource(entry, body.type);
  }

  /** `POST /webhooks/{application}/{token}`: another message; completes the reply if that is still loading. */
  followUp(token: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = this.alive(token);
    if (this.strict) checkMessage(body, { kind: 'reply', uploads });
    if (isEmpty(body, uploads)) throw errors.emptyMessage();
    if (this.loading(entry)) return this.complete(entry, body, uploads);
    const message = this.post(entry, body, uploads, 0, body.flags);
    entry.followups.push(message);
    this.byMessage.set(message.id, entry);
    this.changed(entry);
    return message;
  }

  /** A message of this interaction, by id or `@original`. */
  message(token: string, id: string): MessageState {
    const entry = this.alive(token);
    const found =
      id === '@original' ? entry.original : [entry.original, ...entry.followups].find((one) => one?.id === id);
    if (!found || found.deleted) throw errors.unknownMessage();
    return found;
  }

  editMessage(token: string, id: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = this.alive(token);
    const state = this.message(token, id);
    const { flags, attachments } = state.message;
    if (this.strict)
      checkMessage(body, {
        kind: 'reply-edit',
        uploads,
        existing: attachments.map((file) => file.id),
        flags: flags ?? 0,
      });
    if (
      isEmpty({ ...state.message, message_reference: null, ...body }, uploads) &&
      (body.attachments ?? attachments).length === 0
    )
      throw errors.emptyMessage();
    if (state === entry.original && this.loading(entry)) return this.complete(entry, body, uploads);
    return this.messages.edit(state, body, uploads);
  }

  deleteMessage(token: string, id: string): void {
    this.messages.remove(this.message(token, id));
  }

  forget(): void {
    this.failWaiting(new Error('The stand-in was told to forget this interaction.'));
    for (const entry of this.entries.values()) entry.stopDeadline();
    for (const map of [this.entries, this.byToken, this.byMessage]) map.clear();
  }

  close(): void {
    this.failWaiting(new Error('The stand-in was closed.'));
  }

  private failWaiting(error: Error): void {
    for (const { waiting } of this.entries.values()) {
      for (const { fail } of waiting) fail(error);
      waiting.clear();
    }
  }

  private prune(): void {
    for (const [id, entry] of this.entries) {
      if (this.entries.size <= KEPT) return;
      this.entries.delete(id);
      this.byToken.delete(entry.token);
      for (const message of [entry.original, ...entry.followups]) if (message) this.byMessage.delete(message.id);
    }
  }

  private fail(entry: Entry): void {
    entry.status = 'failed';
    entry.failure = entry.kind === 'autocomplete' ? 'Loading options failed' : 'The application did not respond';
    this.changed(entry);
  }

  private changed(entry: Entry): void {
    this.events.emit({ type: 'interaction', interaction: this.state(entry.id) });
    for (const waiter of entry.waiting) if (waiter.check()) entry.waiting.delete(waiter);
  }

  private loading(entry: Entry): boolean {
    return (
      entry.original !== null &&
      !entry.original.deleted &&
      ((entry.original.message.flags ?? 0) & MessageFlags.Loading) !== 0
    );
  }

  /** The interaction of a token that may still be used for followups. */
  private alive(token: string): Entry {
    const entry = this.byToken.get(token);
    if (!entry || this.clock.now() - entry.at >= LIFE_MS) throw errors.invalidWebhookToken();
    if (entry.status !== 'acknowledged') throw errors.unknownWebhook();
    return entry;
  }

  private setOriginal(entry: Entry, message: MessageState): void {
    entry.original = message;
    this.byMessage.set(message.id, entry);
  }

  /** Fills the reply that says "thinking…". */
  private complete(entry: Entry, body: Json, uploads: readonly Upload[]): MessageState {
    const original = entry.original!;
    return this.messages.edit(original, body, uploads, (original.message.flags ?? 0) & ~MessageFlags.Loading);
  }

  private post(entry: Entry, body: Json, uploads: readonly Upload[], state: number, wanted: unknown): MessageState {
    const { prepared, user, channel } = entry;
    const ephemeral = (Number(wanted ?? 0) & MessageFlags.Ephemeral) !== 0;
    const flags =
      state |
      (Number(wanted ?? 0) &
        (MessageFlags.Ephemeral |
          MessageFlags.SuppressEmbeds |
          MessageFlags.SuppressNotifications |
          MessageFlags.IsComponentsV2));
    const command = prepared.type === InteractionType.ApplicationCommand;
    const context = entry.kind === 'message-command' || entry.kind === 'user-command';
    return this.messages.create({
      channel,
      author: this.world.users.get(this.world.botId)!,
      body,
      uploads,
      ...(ephemeral && { visibleTo: user.id }),
      extra: {
        flags,
        application_id: this.world.botId,
        webhook_id: this.world.botId,
        ...(command && { type: context ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand }),
        ...(command && {
          interaction: { id: entry.id, type: prepared.type, name: prepared.name, user: apiUser(user) },
        }),
        ...(entry.prepared.source &&
          !entry.prepared.source.visibleTo && {
            type: MessageType.Reply,
            message_reference: { type: 0, channel_id: channel.id, message_id: entry.prepared.source.id },
          }),
        interaction_metadata: {
          id: entry.id,
          type: prepared.type,
          user: apiUser(user),
          authorizing_integration_owners: { '0': channel.guildId ?? '0' },
          ...(command && { name: prepared.name, command_type: 1 }),
          ...(entry.responseType === 5 && { original_response_message_id: entry.original?.id }),
        },
      },
    });
  }

  private callbackResource(entry: Entry, type: number): Json {
    const message = [4, 5, 6, 7].includes(type) ? entry.original : null;
    return {
      interaction: {
        id: entry.id,
        type: entry.prepared.type,
        ...(message && {
          response_message_id: message.id,
          response_message_loading: type === 5,
          response_message_ephemeral: message.visibleTo !== null,
        }),
        channel_id: entry.channel.id,
        ...(entry.channel.guildId && { guild_id: entry.channel.guildId }),
      },
      resource: { type, ...(message && type !== 6 && { message: message.message }) },
    };
  }
}
