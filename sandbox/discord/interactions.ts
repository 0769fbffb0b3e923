import { randomBytes } from 'node:crypto';
import { type InteractionType, MessageFlags } from 'discord.js';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Base } from './base.ts';
import type { ControlEvent, InteractionRequest, InteractionState, MessageState } from './control.ts';
import { errors } from './errors.ts';
import type { Gateway } from './gateway.ts';
import type { Json } from './validate.ts';
import type { Channel } from './world.ts';

const MAX_ENTRIES = 2_000;
/** Time for the first response. */
const ACK_MS = 3 * SECOND;
/** How long a token is valid for followups. */
const TOKEN_MS = 15 * MINUTE;

/** `payload` is its part of the gateway event. The rest is for the rules of later responses. */
export interface Prepared {
  type: InteractionType;
  name: string;
  payload: Json;
  /** The message with the component, or with the component that opened the form. */
  source: MessageState | null;
  /** The type of the option being completed. */
  optionType?: number;
}

export interface Entry {
  readonly token: string;
  readonly prepared: Prepared;
  readonly channel: Channel;
  readonly begun: number;
  readonly stopDeadline: () => void;
  readonly state: Omit<InteractionState, 'loading'>;
}

export const isLoading = ({ state: { reply } }: Entry): boolean =>
  reply !== null && !reply.deleted && ((reply.message.flags ?? 0) & MessageFlags.Loading) !== 0;

export const stateOf = (entry: Entry): InteractionState => ({
  ...entry.state,
  loading: isLoading(entry),
  followups: [...entry.state.followups],
});

/** Its promises reject with its state after two minutes of real time. */
export interface Interaction {
  readonly id: string;
  readonly state: InteractionState;
  until(condition: (state: InteractionState) => boolean): Promise<InteractionState>;
  /** Resolves when the bot has acknowledged it, or has not in time. */
  acknowledged(): Promise<InteractionState>;
  /** Resolves when it has failed or has a reply that is more than "thinking…". */
  final(): Promise<InteractionState>;
}

export type Interactions = ReturnType<typeof createInteractions>;

/** Keeps the newest 2,000. */
export function createInteractions({ world, clock, events, nextId }: Base, gateway: Gateway) {
  const entries = new Map<string, Entry>();
  /** By token, and by the id of each of its messages. */
  const owners = new Map<string, Entry>();
  events.on((event) => {
    const owner = event.type === 'message' ? owners.get(event.message.id) : undefined;
    if (owner) changed(owner);
  });

  function changed(entry: Entry): void {
    events.emit({ type: 'interaction', interaction: stateOf(entry) });
  }

  function begin({ kind, userId, channelId }: InteractionRequest, prepared: Prepared): Interaction {
    const id = nextId();
    const begun = clock.now();
    const channel = world.channels.get(channelId)!;
    const entry: Entry = {
      token: Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url'),
      prepared,
      channel,
      begun,
      stopDeadline: clock.after(ACK_MS, () => fail(entry)),
      state: {
        id,
        kind,
        name: prepared.name,
        userId,
        channelId,
        guildId: channel.guildId,
        at: new Date(begun).toISOString(),
        status: 'waiting',
        responseType: null,
        ackMs: null,
        reply: null,
        followups: [],
        modal: null,
        choices: null,
        failure: null,
      },
    };
    entries.set(id, entry);
    owners.set(entry.token, entry);
    if (entries.size > MAX_ENTRIES) drop(entries.values().next().value!);
    changed(entry);
    gateway.dispatch(
      'INTERACTION_CREATE',
      { ...prepared.payload, id, token: entry.token, type: prepared.type, version: 1, application_id: world.botId },
      { guildId: channel.guildId, intents: 0 },
    );
    return handle(entry);
  }

  function drop({ token, state: { id, reply, followups } }: Entry): void {
    entries.delete(id);
    for (const key of [token, reply?.id ?? '', ...followups.map((message) => message.id)]) owners.delete(key);
  }

  function fail(entry: Entry): void {
    entry.state.status = 'failed';
    entry.state.failure =
      entry.state.kind === 'autocomplete' ? 'Loading options failed' : 'The application did not respond';
    changed(entry);
  }

  function handle(entry: Entry): Interaction {
    const { id } = entry.state;

    function until(what: string, condition: (state: InteractionState) => boolean): Promise<InteractionState> {
      function look(event?: ControlEvent): InteractionState | undefined {
        if (!entries.has(id)) throw new Error('The stand-in has deleted this interaction.');
        if (event === undefined) return condition(stateOf(entry)) ? stateOf(entry) : undefined;
        if (event.type !== 'interaction' || event.interaction.id !== id) return undefined;
        return condition(event.interaction) ? event.interaction : undefined;
      }

      return events.until(look, () => `${what} ${described(stateOf(entry), condition)}`);
    }

    return {
      id,
      get state() {
        return stateOf(entry);
      },
      until: (condition) => until('an update of', condition),
      acknowledged: () => until('an acknowledgement of', ({ status }) => status !== 'waiting'),
      final: () => until('a final reply to', ({ status, loading }) => status !== 'waiting' && !loading),
    };
  }

  return {
    begin,
    changed,
    get: (id: string): Entry | undefined => entries.get(id),
    /** The last 100, oldest first. */
    states: (): InteractionState[] => [...entries.values()].slice(-100).map(stateOf),

    /** @throws Discord's error unless the interaction waits for its first response. */
    waiting(id: string, token: string): Entry {
      const entry = entries.get(id);
      if (!entry || entry.token !== token || entry.state.status === 'failed') throw errors.unknownInteraction();
      if (entry.state.status === 'acknowledged') throw errors.alreadyAcknowledged();
      if (clock.now() - entry.begun > ACK_MS) throw errors.unknownInteraction();
      return entry;
    },

    /** @throws Discord's error unless the token is valid for followups. */
    alive(token: string): Entry {
      const entry = owners.get(token);
      if (!entry || clock.now() - entry.begun >= TOKEN_MS) throw errors.invalidWebhookToken();
      if (entry.state.status !== 'acknowledged') throw errors.unknownWebhook();
      return entry;
    },

    acknowledge(entry: Entry, responseType: number): void {
      entry.stopDeadline();
      Object.assign(entry.state, { status: 'acknowledged', responseType, ackMs: clock.now() - entry.begun });
    },

    /** Changes of this message count as changes of the interaction. */
    follow: (entry: Entry, message: MessageState): void => void owners.set(message.id, entry),

    forget(): void {
      for (const { stopDeadline } of entries.values()) stopDeadline();
      entries.clear();
      owners.clear();
    },
  };
}

/** For errors. Omits the history of the messages. */
function described(
  { kind, name, reply, followups, ...state }: InteractionState,
  condition: (state: InteractionState) => boolean,
): string {
  const shown = { ...state, reply: reply?.message, followups: followups.map(({ message }) => message) };
  const title = kind === 'command' || kind === 'autocomplete' ? `/${name}` : name;
  return `the ${kind} ${title}. The condition: ${condition.toString()}. Its state: ${JSON.stringify(shown)}`;
}
