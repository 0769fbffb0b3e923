/** Interactions from a person's action to the last followup: tokens, deadlines, states, and who waits for them. */
import { randomBytes } from 'node:crypto';
import type { Prepared } from './answer-rules.ts';
import type { Clock } from './clock.ts';
import type { InteractionRequest, InteractionState, MessageState } from './control.ts';
import { checkWaiting, createEntries, type Entry, failWaiting, stateOf, untilState } from './entries.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import type { Gateway } from './gateway.ts';
import type { World } from './world.ts';

const ACK_MS = 3000;
const LIFE_MS = 15 * 60_000;

/** A pending interaction. */
export interface Interaction {
  readonly id: string;
  /** Its current state. */
  readonly state: InteractionState;
  /** Resolves as soon as the state satisfies the condition. */
  until(condition: (state: InteractionState) => boolean): Promise<InteractionState>;
  /** Resolves when the bot has acknowledged it, or has not in time. */
  acknowledged(): Promise<InteractionState>;
  /** Resolves when it has failed or has a reply that is more than "thinking…". */
  final(): Promise<InteractionState>;
}

/** The interactions of one stand-in. */
export type Interactions = ReturnType<typeof createInteractions>;

/** Creates the store of interactions. */
export function createInteractions({
  world,
  clock,
  events,
  gateway,
  nextId,
}: {
  world: World;
  clock: Clock;
  events: Events;
  gateway: Gateway;
  nextId: () => string;
}) {
  const entries = createEntries();
  events.on((event) => {
    const owner = event.type === 'message' ? entries.ofMessage(event.message.id) : undefined;
    if (owner) changed(owner);
  });

  /** Sends it to the bot. It fails when no acknowledgement arrives in time. */
  function begin(request: InteractionRequest, prepared: Prepared): Interaction {
    const id = nextId();
    const token = Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url');
    const entry: Entry = {
      id,
      token,
      kind: request.kind,
      prepared,
      user: world.users.get(request.userId)!,
      channel: world.channels.get(request.channelId)!,
      at: clock.now(),
      status: 'waiting',
      responseType: null,
      ackMs: null,
      original: null,
      followups: [],
      modal: null,
      choices: null,
      failure: null,
      stopDeadline: clock.after(ACK_MS, () => fail(entry)),
      waiting: new Set(),
    };
    entries.add(entry);
    changed(entry);
    gateway.dispatch(
      'INTERACTION_CREATE',
      { ...prepared.payload, id, token, type: prepared.type, version: 1, application_id: world.botId },
      { guildId: entry.channel.guildId, intents: 0 },
    );
    return handle(id);
  }

  function handle(id: string): Interaction {
    const until: Interaction['until'] = async (condition) => untilState(known(id), condition);
    return {
      id,
      get state() {
        return state(id);
      },
      until,
      acknowledged: () => until(({ status }) => status !== 'waiting'),
      final: () => until(({ status, loading }) => status !== 'waiting' && !loading),
    };
  }

  function known(id: string): Entry {
    const entry = entries.get(id);
    if (!entry) throw new Error(`There is no interaction ${id}.`);
    return entry;
  }

  const state = (id: string): InteractionState => stateOf(known(id));

  /** Returns the last 100, oldest first. */
  function states(): InteractionState[] {
    return entries.all().slice(-100).map(stateOf);
  }

  /** Returns the message of the component that opened a form. */
  function sourceOf(id: string): MessageState | null {
    return entries.get(id)?.prepared.source ?? null;
  }

  /** Returns the interaction that waits for its first response. @throws Discord's error when there is none. */
  function waiting(id: string, token: string): Entry {
    const entry = entries.get(id);
    const late = entry && clock.now() - entry.at > ACK_MS && entry.status !== 'acknowledged';
    if (!entry || entry.token !== token || late || entry.status === 'failed') throw errors.unknownInteraction();
    if (entry.status === 'acknowledged') throw errors.alreadyAcknowledged();
    return entry;
  }

  /** Returns the interaction of a token that is still valid for followups. @throws Discord's error when there is none. */
  function alive(token: string): Entry {
    const entry = entries.ofToken(token);
    if (!entry || clock.now() - entry.at >= LIFE_MS) throw errors.invalidWebhookToken();
    if (entry.status !== 'acknowledged') throw errors.unknownWebhook();
    return entry;
  }

  /** Records the bot's response. */
  function acknowledge(entry: Entry, responseType: number): void {
    entry.stopDeadline();
    entry.status = 'acknowledged';
    entry.responseType = responseType;
    entry.ackMs = clock.now() - entry.at;
  }

  /** Reports changes of this message as changes of the interaction. */
  function follow(entry: Entry, message: MessageState): void {
    entries.follow(entry, message);
  }

  /** Reports an interaction's state to the listeners and to those who wait for it. */
  function changed(entry: Entry): void {
    events.emit({ type: 'interaction', interaction: state(entry.id) });
    checkWaiting(entry);
  }

  function forget(): void {
    failAll(new Error('The stand-in has deleted this interaction.'));
    for (const entry of entries.all()) entry.stopDeadline();
    entries.clear();
  }

  function close(): void {
    failAll(new Error('The stand-in was closed.'));
  }

  function failAll(error: Error): void {
    for (const entry of entries.all()) failWaiting(entry, error);
  }

  function fail(entry: Entry): void {
    entry.status = 'failed';
    entry.failure = entry.kind === 'autocomplete' ? 'Loading options failed' : 'The application did not respond';
    changed(entry);
  }

  return {
    begin,
    state,
    has: entries.has,
    states,
    sourceOf,
    waiting,
    alive,
    acknowledge,
    follow,
    changed,
    forget,
    close,
  };
}
