/** The bot's gateway sessions: which of them gets which event, even after a broken connection. */
import { randomBytes } from 'node:crypto';
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from 'discord.js';
import type { WebSocket } from 'ws';
import type { SessionState } from './control.ts';
import type { Events } from './events.ts';
import { write } from './gateway-socket.ts';
import { withoutContent } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

/** Events of a session that are kept for a resume. */
const MAX_REPLAYED = 5_000;

/** A session of the bot on one shard. */
export interface Session {
  id: string;
  shard: [number, number];
  intents: number;
  sequence: number;
  sent: { s: number; text: string }[];
  /** Null while the connection is broken. */
  socket: WebSocket | null;
  resumed: number;
}

/** The sessions that get an event: those with one of `intents` (0: all) whose shard serves the server. */
export interface Audience {
  guildId: string | null;
  intents: number;
}

/** Returns the shard that serves a server. */
export const shardOf = (guildId: string, count: number): number => Number((BigInt(guildId) >> 22n) % BigInt(count));

/** Creates the list of sessions, empty. */
export function createSessions(world: World, events: Events) {
  const sessions = new Map<string, Session>();

  function states(): SessionState[] {
    return [...sessions.values()].map(({ id, shard, socket, intents, resumed }) => ({
      id,
      shard,
      connected: socket !== null,
      intents,
      resumed,
    }));
  }

  function report(): void {
    events.emit({ type: 'sessions', sessions: states() });
  }

  /** Sends an event to one session, at the latest when it resumes. */
  function send(session: Session, name: string, data: Json): void {
    session.sequence++;
    const text = JSON.stringify({ t: name, s: session.sequence, op: Op.Dispatch, d: data });
    session.sent.push({ s: session.sequence, text });
    if (session.sent.length > 2 * MAX_REPLAYED) session.sent = session.sent.slice(-MAX_REPLAYED);
    if (session.socket) write(session.socket, text);
  }

  return {
    states,
    report,
    send,

    /** Opens a session. It replaces sessions of its shard that were not resumed. */
    open(shard: [number, number], intents: number, socket: WebSocket): Session {
      for (const old of sessions.values())
        if (old.socket === null && old.shard.join() === shard.join()) sessions.delete(old.id);
      const id = randomBytes(16).toString('hex');
      const session: Session = { id, shard, intents, sequence: 0, sent: [], socket, resumed: 0 };
      sessions.set(id, session);
      return session;
    },

    /** Returns the session if everything after `sequence` can be sent again. */
    resumable(id: unknown, sequence: number): Session | undefined {
      const session = sessions.get(id as string);
      const oldest = session?.sent[0]?.s ?? Number.POSITIVE_INFINITY;
      return session && (sequence === session.sequence || oldest <= sequence + 1) ? session : undefined;
    },

    /** Sends an event to its sessions. A dropped session gets it when it resumes. */
    dispatch(name: string, data: Json, audience: Audience): void {
      for (const session of sessions.values()) {
        if (audience.intents !== 0 && !(session.intents & audience.intents)) continue;
        const [shard, count] = session.shard;
        if (shard !== (audience.guildId === null ? 0 : shardOf(audience.guildId, count))) continue;
        const isHidden = name.startsWith('MESSAGE_') && !(session.intents & Intent.MessageContent);
        send(session, name, isHidden && data.author && data.guild_id ? withoutContent(world, data) : data);
      }
    },

    /** Marks every session as invalid. The bot may resume it, or has to log in again. */
    invalidate(resumable: boolean): void {
      for (const session of sessions.values()) {
        if (session.socket) write(session.socket, { op: Op.InvalidSession, d: resumable, s: null, t: null });
        if (!resumable) sessions.delete(session.id);
      }
      report();
    },

    clear: () => sessions.clear(),
  };
}
