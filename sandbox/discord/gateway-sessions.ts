import { randomBytes } from 'node:crypto';
import { constants, createDeflate, type Deflate } from 'node:zlib';
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from 'discord.js';
import type { WebSocket } from 'ws';
import { DAY, SECOND } from '../../src/domain/clock.ts';
import type { Base } from './base.ts';
import type { SessionState } from './control.ts';
import { withoutContent } from './objects.ts';
import type { Json } from './validate.ts';

const MAX_REPLAYED = 5_000;
/** In this time, one shard of each bucket may identify. */
const SPACING_MS = 5 * SECOND;
const TOTAL = 1_000;
/** With a lower concurrency, libraries wait 5 s between sessions. */
const USUAL_CONCURRENCY = 16;

const streams = new WeakMap<WebSocket, Deflate>();

/** One zlib stream, flushed after each payload. */
export function compress(socket: WebSocket): void {
  const stream = createDeflate({ flush: constants.Z_SYNC_FLUSH });
  let pending: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    pending.push(chunk);
    const whole = Buffer.concat(pending);
    if (whole.length < 4 || whole.readUInt32BE(whole.length - 4) !== 0x0000ffff) return;
    pending = [];
    if (socket.readyState === socket.OPEN) socket.send(whole);
  });
  socket.on('close', () => stream.destroy());
  streams.set(socket, stream);
}

/** A string is JSON already. */
export function write(socket: WebSocket, payload: Json): void {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const stream = streams.get(socket);
  if (stream) stream.write(text);
  else if (socket.readyState === socket.OPEN) socket.send(text);
}

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

/** The sessions with one of `intents` (0: all) whose shard serves the server. */
export interface Audience {
  guildId: string | null;
  intents: number;
}

export const shardOf = (guildId: string, count: number): number => Number((BigInt(guildId) >> 22n) % BigInt(count));

export function createSessions({ world, events }: Base) {
  const sessions = new Map<string, Session>();

  function states(): SessionState[] {
    return [...sessions.values()].map(({ socket, sequence: _sequence, sent: _sent, ...state }) => ({
      ...state,
      connected: socket !== null,
    }));
  }

  function report(): void {
    events.emit({ type: 'sessions', sessions: states() });
  }

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

    /** Replaces sessions of its shard that were not resumed. */
    open(shard: [number, number], intents: number, socket: WebSocket): Session {
      for (const old of sessions.values())
        if (old.socket === null && old.shard.join() === shard.join()) sessions.delete(old.id);
      const id = randomBytes(16).toString('hex');
      const session: Session = { id, shard, intents, sequence: 0, sent: [], socket, resumed: 0 };
      sessions.set(id, session);
      return session;
    },

    /** undefined unless everything after `sequence` can be sent again. */
    resumable(id: unknown, sequence: number): Session | undefined {
      const session = sessions.get(id as string);
      const oldest = session?.sent[0]?.s ?? Number.POSITIVE_INFINITY;
      return session && (sequence === session.sequence || oldest <= sequence + 1) ? session : undefined;
    },

    dispatch(name: string, data: Json, audience: Audience): void {
      for (const session of sessions.values()) {
        if (audience.intents !== 0 && !(session.intents & audience.intents)) continue;
        const [shard, count] = session.shard;
        if (shard !== (audience.guildId === null ? 0 : shardOf(audience.guildId, count))) continue;
        const isHidden = name.startsWith('MESSAGE_') && !(session.intents & Intent.MessageContent);
        send(session, name, isHidden && data.author && data.guild_id ? withoutContent(world, data) : data);
      }
    },

    drop(shard: number): void {
      for (const session of sessions.values()) if (session.shard[0] === shard) session.socket?.terminate();
    },

    /** The bot may resume, or has to log in again. */
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

export interface SessionStarts {
  /** Recommended number. Default: one for each 1,000 servers. */
  shards: number;
  /** How many shards may identify within 5 s. Shard n belongs to bucket n modulo this. Enforced once it is given. */
  maxConcurrency: number;
  /** How many sessions may still begin today. */
  remaining: number;
}

export function createStarts({ clock, world }: Base, { shards, maxConcurrency, remaining }: Partial<SessionStarts>) {
  const lastOf = new Map<number, number>();
  let startsRemaining = remaining ?? TOTAL;
  return {
    /** `GET /gateway/bot` without its `url`. */
    information() {
      const servers = [...world.guilds.values()].filter(({ present }) => present).length;
      return {
        shards: shards ?? Math.max(1, Math.ceil(servers / 1_000)),
        session_start_limit: {
          total: TOTAL,
          remaining: startsRemaining,
          reset_after: DAY,
          max_concurrency: maxConcurrency ?? USUAL_CONCURRENCY,
        },
      };
    },
    /** False when this Identify came too soon. */
    begin(shard: number): boolean {
      if (remaining !== undefined) startsRemaining = Math.max(0, startsRemaining - 1);
      if (maxConcurrency === undefined) return true;
      const bucket = shard % maxConcurrency;
      const isTooSoon = clock.now() - (lastOf.get(bucket) ?? Number.NEGATIVE_INFINITY) < SPACING_MS;
      if (!isTooSoon) lastOf.set(bucket, clock.now());
      return !isTooSoon;
    },
  };
}
