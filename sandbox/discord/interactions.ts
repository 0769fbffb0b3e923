/** Interactions from a person's action to the last followup: tokens, deadlines, states, and who waits for them. */
import { randomBytes } from 'node:crypto';
import { MessageFlags } from 'discord.js';
import type { Clock } from '../../src/domain/clock.ts';
import type { Prepared } from './answer-rules.ts';
import type { InteractionRequest, InteractionState, MessageState } from './control.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Gateway } from './gateway.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

const ACK_MS = 3000;
const LIFE_MS = 15 * 60_000;
const KEPT = 2000;

/** A stored interaction. */
export interface Entry {
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

/** A pending interaction. */
export class Interaction {
  private readonly owner: Interactions;
  readonly id: string;

  constructor(owner: Interactions, id: string) {
    this.owner = owner;
    this.id = id;
  }

  /** Its current state. */
  get state(): InteractionState {
    return this.owner.state(this.id);
  }

  /** Resolves as soon as the state satisfies the condition. */
  until(condition: (state: InteractionState) => boolean): Promise<InteractionState> {
    return this.owner.until(this.id, condition);
  }

  /** Resolves when the bot has acknowledged it, or has not in time. */
  acknowledged(): Promise<InteractionState> {
    return this.until(({ status }) => status !== 'waiting');
  }

  /** Resolves when it has failed or has a reply that is more than "thinking…". */
  final(): Promise<InteractionState> {
    return this.until(({ status, loading }) => status !== 'waiting' && !loading);
  }
}

/** Whether the reply still shows "thinking…". */
export function isLoading({ original }: Entry): boolean {
  return original !== null && !original.deleted && ((original.message.flags ?? 0) & MessageFlags.Loading) !== 0;
}

/** All interactions. {@link Replies} handles the bot's responses. */
export class Interactions {
  private readonly world: World;
  private readonly clock: Clock;
  private readonly events: Events;
  private readonly gateway: Gateway;
  private readonly nextId: () => string;
  private readonly entries = new Map<string, Entry>();
  private readonly byToken = new Map<string, Entry>();
  private readonly byMessage = new Map<string, Entry>();

  constructor(parts: {
    world: World;
    clock: Clock;
    events: Events;
    gateway: Gateway;
    nextId: () => string;
  }) {
    this.world = parts.world;
    this.clock = parts.clock;
    this.events = parts.events;
    this.gateway = parts.gateway;
    this.nextId = parts.nextId;
    this.events.on((event) => {
      const owner = event.type === 'message' ? this.byMessage.get(event.message.id) : undefined;
      if (owner) this.changed(owner);
    });
  }

  /** Sends it to the bot. It fails when no acknowledgement arrives in time. */
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
      loading: isLoading(entry),
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

  /** Returns the last 100, oldest first. */
  states(): InteractionState[] {
    return [...this.entries.keys()].slice(-100).map((id) => this.state(id));
  }

  /** Returns the message of the component that opened a form. */
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

  /** Returns the interaction that waits for its first response. @throws Discord's error when there is none. */
  waiting(id: string, token: string): Entry {
    const entry = this.entries.get(id);
    const late = entry && this.clock.now() - entry.at > ACK_MS && entry.status !== 'acknowledged';
    if (!entry || entry.token !== token || late || entry.status === 'failed') throw errors.unknownInteraction();
    if (entry.status === 'acknowledged') throw errors.alreadyAcknowledged();
    return entry;
  }

  /** Returns the interaction of a token that is still valid for followups. @throws Discord's error when there is none. */
  alive(token: string): Entry {
    const entry = this.byToken.get(token);
    if (!entry || this.clock.now() - entry.at >= LIFE_MS) throw errors.invalidWebhookToken();
    if (entry.status !== 'acknowledged') throw errors.unknownWebhook();
    return entry;
  }

  /** Records the bot's response. */
  acknowledge(entry: Entry, responseType: number): void {
    entry.stopDeadline();
    entry.status = 'acknowledged';
    entry.responseType = responseType;
    entry.ackMs = this.clock.now() - entry.at;
  }

  /** Reports changes of this message as changes of the interaction. */
  follow(entry: Entry, message: MessageState): void {
    this.byMessage.set(message.id, entry);
  }

  /** Reports an interaction's state to the listeners and to those who wait for it. */
  changed(entry: Entry): void {
    this.events.emit({ type: 'interaction', interaction: this.state(entry.id) });
    for (const waiter of entry.waiting) if (waiter.check()) entry.waiting.delete(waiter);
  }

  forget(): void {
    this.failWaiting(new Error('The stand-in has deleted this interaction.'));
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
}
