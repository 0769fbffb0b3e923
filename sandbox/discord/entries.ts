/** The interactions that the stand-in remembers. */
import { randomBytes } from 'node:crypto';
import { MessageFlags } from 'discord.js';
import type { InteractionRequest, InteractionState, MessageState } from './control.ts';
import type { Prepared } from './response-rules.ts';
import type { Json } from './validate.ts';
import type { Channel, User, World } from './world.ts';

const MAX_ENTRIES = 2_000;

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
  /** The promises of {@link untilState} that are still pending. */
  waiting: Set<{ check: () => boolean; fail: (error: Error) => void }>;
}

/** Creates an interaction that the bot has not acknowledged yet. */
export function newEntry(
  world: World,
  { id, at, request, prepared }: { id: string; at: number; request: InteractionRequest; prepared: Prepared },
): Entry {
  return {
    id,
    token: Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url'),
    kind: request.kind,
    prepared,
    user: world.users.get(request.userId)!,
    channel: world.channels.get(request.channelId)!,
    at,
    status: 'waiting',
    responseType: null,
    ackMs: null,
    original: null,
    followups: [],
    modal: null,
    choices: null,
    failure: null,
    stopDeadline: () => {},
    waiting: new Set(),
  };
}

/** Whether the reply still shows "thinking…". */
export function isLoading({ original }: Entry): boolean {
  return original !== null && !original.deleted && ((original.message.flags ?? 0) & MessageFlags.Loading) !== 0;
}

/** Returns an interaction as control clients see it. */
export function stateOf(entry: Entry): InteractionState {
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

/** Resolves as soon as an interaction's state satisfies the condition. */
export function untilState(entry: Entry, condition: (state: InteractionState) => boolean): Promise<InteractionState> {
  return new Promise((resolve, reject) => {
    const waiter = {
      check: () => {
        const state = stateOf(entry);
        if (!condition(state)) return false;
        resolve(state);
        return true;
      },
      fail: reject,
    };
    if (!waiter.check()) entry.waiting.add(waiter);
  });
}

/** Resolves the promises that wait for the state that an interaction has now. */
export function checkWaiting({ waiting }: Entry): void {
  for (const waiter of waiting) if (waiter.check()) waiting.delete(waiter);
}

/** Rejects the promises that wait for an interaction. */
export function failWaiting({ waiting }: Entry, error: Error): void {
  for (const { fail } of waiting) fail(error);
  waiting.clear();
}

/** The interactions that are remembered. */
export type Entries = ReturnType<typeof createEntries>;

/** Creates the store of interactions, by id, token and message. It keeps the newest. */
export function createEntries() {
  const byId = new Map<string, Entry>();
  const byToken = new Map<string, Entry>();
  const byMessage = new Map<string, Entry>();

  function prune(): void {
    for (const [id, entry] of byId) {
      if (byId.size <= MAX_ENTRIES) return;
      byId.delete(id);
      byToken.delete(entry.token);
      for (const message of [entry.original, ...entry.followups]) if (message) byMessage.delete(message.id);
    }
  }

  return {
    add(entry: Entry): void {
      byId.set(entry.id, entry);
      byToken.set(entry.token, entry);
      prune();
    },
    get: (id: string): Entry | undefined => byId.get(id),
    has: (id: string): boolean => byId.has(id),
    /** Returns all, oldest first. */
    all: (): Entry[] => [...byId.values()],
    ofToken: (token: string): Entry | undefined => byToken.get(token),
    ofMessage: (messageId: string): Entry | undefined => byMessage.get(messageId),
    /** Remembers that a message belongs to an interaction. */
    follow: (entry: Entry, message: MessageState): void => void byMessage.set(message.id, entry),
    clear(): void {
      for (const map of [byId, byToken, byMessage]) map.clear();
    },
  };
}
