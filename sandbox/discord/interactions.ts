/** Interactions, from a person's action to the last followup or the failure. */

import type { Clock } from '../../src/domain/clock.ts';
import { ACK_MS, createAcknowledgments } from './acknowledgments.ts';
import type { InteractionRequest, InteractionState, MessageState } from './control.ts';
import {
  checkWaiting,
  createEntries,
  type Entries,
  type Entry,
  failWaiting,
  newEntry,
  stateOf,
  untilState,
} from './entries.ts';
import type { Events } from './events.ts';
import type { Gateway } from './gateway.ts';
import type { Prepared } from './response-rules.ts';
import { awaitEvent } from './waiting.ts';
import type { World } from './world.ts';

/** A pending interaction. Its promises reject with its state after two minutes of real time. */
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

interface InteractionsOptions {
  world: World;
  clock: Clock;
  /** A clock that runs, which limits the waits. */
  real: Clock;
  events: Events;
  gateway: Gateway;
  nextId: () => string;
}

/** Creates the store of interactions. */
export function createInteractions({ world, clock, real, events, gateway, nextId }: InteractionsOptions) {
  const entries = createEntries();
  const views = createViews(entries, real);
  events.on((event) => {
    const owner = event.type === 'message' ? entries.ofMessage(event.message.id) : undefined;
    if (owner) changed(owner);
  });

  /** Reports an interaction's state to the listeners and to those who wait for it. */
  function changed(entry: Entry): void {
    events.emit({ type: 'interaction', interaction: stateOf(entry) });
    checkWaiting(entry);
  }

  /** Sends an interaction to the bot. It fails when no acknowledgment arrives in time. */
  function begin(request: InteractionRequest, prepared: Prepared): Interaction {
    const entry = newEntry(world, { id: nextId(), at: clock.now(), request, prepared });
    const { id, token, channel } = entry;
    entry.stopDeadline = clock.after(ACK_MS, () => fail(entry));
    entries.add(entry);
    changed(entry);
    gateway.dispatch(
      'INTERACTION_CREATE',
      { ...prepared.payload, id, token, type: prepared.type, version: 1, application_id: world.botId },
      { guildId: channel.guildId, intents: 0 },
    );
    return views.handle(id);
  }

  function fail(entry: Entry): void {
    entry.status = 'failed';
    entry.failure = entry.kind === 'autocomplete' ? 'Loading options failed' : 'The application did not respond';
    changed(entry);
  }

  function failAll(error: Error): void {
    for (const entry of entries.all()) failWaiting(entry, error);
  }

  return {
    begin,
    has: entries.has,
    state: views.state,
    states: views.states,
    sourceOf: views.sourceOf,
    ...createAcknowledgments(entries, clock),
    /** Reports changes of this message as changes of the interaction. */
    follow: entries.follow,
    changed,
    forget(): void {
      failAll(new Error('The stand-in has deleted this interaction.'));
      for (const entry of entries.all()) entry.stopDeadline();
      entries.clear();
    },
    close: (): void => failAll(new Error('The stand-in was closed.')),
  };
}

/** Creates what people and control clients see of interactions. */
function createViews(entries: Entries, real: Clock) {
  function known(id: string): Entry {
    const entry = entries.get(id);
    if (!entry) throw new Error(`There is no interaction ${id}.`);
    return entry;
  }

  const state = (id: string): InteractionState => stateOf(known(id));

  return {
    state,
    /** Returns the last 100, oldest first. */
    states: (): InteractionState[] => entries.all().slice(-100).map(stateOf),
    /** Returns the message of the component that opened a form. */
    sourceOf: (id: string): MessageState | null => entries.get(id)?.prepared.source ?? null,
    handle(id: string): Interaction {
      async function until(what: string, condition: (state: InteractionState) => boolean): Promise<InteractionState> {
        const entry = known(id);
        return awaitEvent(real, untilState(entry, condition), () => `${what} ${described(entry, condition)}`);
      }
      return {
        id,
        get state() {
          return state(id);
        },
        until: (condition) => until('an update of', condition),
        acknowledged: () => until('an acknowledgement of', ({ status }) => status !== 'waiting'),
        final: () => until('a final reply to', ({ status, loading }) => status !== 'waiting' && !loading),
      };
    },
  };
}

/** Names an interaction, what was waited for, and its state, without the history of its messages. */
function described(entry: Entry, condition: (state: InteractionState) => boolean): string {
  const { kind, name, reply, followups, ...state } = stateOf(entry);
  const shown = { ...state, reply: reply?.message, followups: followups.map(({ message }) => message) };
  const title = kind === 'command' || kind === 'autocomplete' ? `/${name}` : name;
  return `the ${kind} ${title}. The condition: ${condition.toString()}. Its state: ${JSON.stringify(shown)}`;
}
