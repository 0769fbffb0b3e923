/** The gateway: the bot's connections over WebSocket, with heartbeats, log-in, resuming and intents. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from 'discord.js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Events } from './events.ts';
import { type Audience, createSessions, type Session, shardOf } from './gateway-sessions.ts';
import { compress, write } from './gateway-socket.ts';
import { apiMember, apiUser, guildCreate } from './objects.ts';
import type { createSessionStarts } from './session-starts.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 41_250;
/** How many servers one session may serve. */
const MAX_GUILDS = 2_500;
const PRIVILEGED = Intent.GuildMembers | Intent.GuildPresences | Intent.MessageContent;

const CLOSE = {
  unknownOpcode: [4001, 'Unknown opcode.'],
  decodeError: [4002, 'Error while decoding payload.'],
  notAuthenticated: [4003, 'Not authenticated.'],
  authenticationFailed: [4004, 'Authentication failed.'],
  alreadyAuthenticated: [4005, 'Already authenticated.'],
  invalidSequence: [4007, 'Invalid seq.'],
  invalidShard: [4010, 'Invalid shard.'],
  shardingRequired: [4011, 'Sharding required.'],
  invalidVersion: [4012, 'Invalid API version.'],
  invalidIntents: [4013, 'Invalid intent(s).'],
  disallowedIntents: [4014, 'Disallowed intent(s).'],
} as const;

/** Why a payload is refused: close code and reason. */
type Refusal = (typeof CLOSE)[keyof typeof CLOSE];

interface GatewayOptions {
  world: World;
  events: Events;
  token: string;
  /** Whether privileged intents are granted. */
  privileged: boolean;
  /** Returns the address for a resume. */
  url: () => string;
  /** Discord's limits for Identify. */
  starts: ReturnType<typeof createSessionStarts>;
  /** Whether connections are refused: all, or those of a shard. */
  down: (shard?: number) => boolean;
  /** Returns the data that the bot gets instead of an event's own. */
  tamper?: ((name: string, data: Json) => Json) | undefined;
}

/** The bot's connections to the gateway. */
export type Gateway = ReturnType<typeof createGateway>;

/** Creates the gateway, without any connection. */
export function createGateway({ tamper = (_name, data) => data, ...options }: GatewayOptions) {
  const { world, events } = options;
  const server = new WebSocketServer({ noServer: true });
  const sockets = createSockets();
  const sessions = createSessions(world, events);
  const handshakes = createHandshakes(sessions, options);

  function accept(socket: WebSocket, request: IncomingMessage): void {
    const query = new URL(request.url ?? '/', 'http://gateway').searchParams;
    sockets.add(socket);
    if (query.get('compress') === 'zlib-stream') compress(socket);
    let session: Session | undefined;
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      sockets.remove(socket);
      if (session?.socket !== socket) return;
      session.socket = null;
      sessions.report();
    });
    if (!['10', '9'].includes(query.get('v') ?? '')) socket.close(...CLOSE.invalidVersion);
    else if ((query.get('encoding') ?? 'json') !== 'json') socket.close(...CLOSE.decodeError);
    else {
      socket.on('message', (raw) => {
        session = receive(socket, session, (raw as Buffer).toString()) ?? session;
      });
      write(socket, { op: Op.Hello, d: { heartbeat_interval: HEARTBEAT_MS, _trace: [] }, s: null, t: null });
    }
  }

  /** Handles one payload. Returns the session that it opened. */
  function receive(socket: WebSocket, session: Session | undefined, raw: string): Session | undefined {
    function refuse([code, reason]: Refusal): undefined {
      socket.close(code, reason);
      return undefined;
    }

    let payload: Json;
    try {
      payload = JSON.parse(raw);
    } catch {
      return refuse(CLOSE.decodeError);
    }
    switch (payload?.op) {
      case Op.Heartbeat:
        write(socket, { op: Op.HeartbeatAck, d: null, s: null, t: null });
        return undefined;
      case Op.Identify:
      case Op.Resume: {
        if (session) return refuse(CLOSE.alreadyAuthenticated);
        const { identify, resume } = handshakes;
        const opened = payload.op === Op.Identify ? identify(socket, payload.d) : resume(socket, payload.d);
        if (opened && !('id' in opened)) return refuse(opened);
        if (opened) sockets.setShard(socket, opened.shard[0]);
        return opened ?? undefined;
      }
      case Op.PresenceUpdate:
      case Op.VoiceStateUpdate:
      case Op.RequestGuildMembers:
        if (!session) return refuse(CLOSE.notAuthenticated);
        if (payload.op === Op.RequestGuildMembers) {
          const chunk = membersChunk(world, payload.d);
          if (chunk) sessions.send(session, 'GUILD_MEMBERS_CHUNK', chunk);
        }
        return undefined;
      default:
        return refuse(CLOSE.unknownOpcode);
    }
  }

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      if (options.down()) socket.destroy();
      else server.handleUpgrade(request, socket, head, (client) => accept(client, request));
    },

    /** How often the bot logged in and resumed since the counts were last reset. */
    counts: handshakes.counts,
    /** What libraries ask for first: how many shards, and how they may identify. */
    information: () => options.starts.information([...world.guilds.values()].filter(({ present }) => present).length),
    states: sessions.states,
    get connected(): boolean {
      return sessions.states().some(({ connected }) => connected);
    },

    /** Sends an event to its sessions. A dropped session gets it when it resumes. */
    dispatch(name: string, data: Json, audience: Audience): void {
      sessions.dispatch(name, tamper(name, data), audience);
    },

    drop: sockets.drop,
    reconnect: sockets.reconnect,
    invalidate: sessions.invalidate,

    close(): void {
      sessions.clear();
      sockets.drop();
      server.close();
    },
  };
}

/** Creates the set of open connections. */
function createSockets() {
  const open = new Set<WebSocket>();
  const shards = new WeakMap<WebSocket, number>();
  return {
    add: (socket: WebSocket): void => void open.add(socket),
    remove: (socket: WebSocket): void => void open.delete(socket),
    setShard: (socket: WebSocket, shard: number): void => void shards.set(socket, shard),
    /** Drops every connection, or those of one shard, without a close frame. */
    drop(shard?: number): void {
      for (const socket of open) if (shard === undefined || shards.get(socket) === shard) socket.terminate();
    },
    /** Asks every connection to reconnect. */
    reconnect(): void {
      for (const socket of open) write(socket, { op: Op.Reconnect, d: null, s: null, t: null });
    },
  };
}

/** Creates the two ways to get a session: a new one by Identify, and an earlier one by Resume. */
function createHandshakes(sessions: ReturnType<typeof createSessions>, options: Omit<GatewayOptions, 'tamper'>) {
  const { world, token, privileged, url, down, starts } = options;
  const counts = { identifies: 0, refusedIdentifies: 0, resumes: 0 };
  const isAuthentic = (given: unknown) => typeof given === 'string' && given.replace(/^Bot /, '') === token;

  return {
    counts,

    /** Returns null when the shard is down, or identified too soon. */
    identify(socket: WebSocket, data: Json): Session | Refusal | null {
      if (!isAuthentic(data?.token)) return CLOSE.authenticationFailed;
      if (typeof data.properties !== 'object') return CLOSE.decodeError;
      if (!Number.isSafeInteger(data.intents) || data.intents < 0) return CLOSE.invalidIntents;
      if (data.intents & PRIVILEGED && !privileged) return CLOSE.disallowedIntents;
      const [shard, count] = data.shard ?? [0, 1];
      if (!(shard >= 0 && shard < count)) return CLOSE.invalidShard;
      if (down(shard)) {
        socket.terminate();
        return null;
      }
      const guilds = [...world.guilds.values()].filter(({ id, present }) => present && shardOf(id, count) === shard);
      if (guilds.length > MAX_GUILDS) return CLOSE.shardingRequired;
      if (!starts.begin(shard)) {
        counts.refusedIdentifies++;
        write(socket, { op: Op.InvalidSession, d: false, s: null, t: null });
        return null;
      }
      const session = sessions.open([shard, count], data.intents, socket);
      counts.identifies++;
      sessions.send(session, 'READY', {
        v: 10,
        user: { ...apiUser(world.users.get(world.botId)!), verified: true, mfa_enabled: true, email: null },
        guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
        session_id: session.id,
        session_type: 'normal',
        resume_gateway_url: url(),
        shard: session.shard,
        application: { id: world.botId, flags: 0 },
        private_channels: [],
        presences: [],
        relationships: [],
        geo_ordered_rtc_regions: [],
        user_settings: {},
      });
      if (session.intents & Intent.Guilds)
        for (const guild of guilds)
          if (guild.available) sessions.send(session, 'GUILD_CREATE', guildCreate(world, guild));
      sessions.report();
      return session;
    },

    /** Returns null when the session cannot be resumed (the bot then logs in again), and when the shard is down. */
    resume(socket: WebSocket, data: Json): Session | Refusal | null {
      if (!isAuthentic(data?.token)) return CLOSE.authenticationFailed;
      const session = sessions.resumable(data.session_id, data.seq);
      if (!session) {
        write(socket, { op: Op.InvalidSession, d: false, s: null, t: null });
        return null;
      }
      if (down(session.shard[0])) {
        socket.terminate();
        return null;
      }
      if (data.seq > session.sequence) return CLOSE.invalidSequence;
      session.socket?.terminate();
      session.socket = socket;
      session.resumed++;
      counts.resumes++;
      for (const { s, text } of session.sent) if (s > data.seq) write(socket, text);
      sessions.send(session, 'RESUMED', { _trace: [] });
      sessions.report();
      return session;
    },
  };
}

/** Returns the members that the bot asked for; null where it is not in the server. */
function membersChunk(world: World, data: Json): Record<string, Json> | null {
  const guild = world.guilds.get(String(data?.guild_id));
  if (!guild?.present) return null;
  const wanted: string[] = [data.user_ids ?? []].flat();
  const found = [...guild.members.values()]
    .filter(({ userId }) => wanted.includes(userId))
    .map((member) => apiMember(world, member));
  return {
    guild_id: guild.id,
    members: found,
    chunk_index: 0,
    chunk_count: 1,
    not_found: wanted.filter((id) => !found.some(({ user }: Json) => user.id === id)),
    ...(data.nonce && { nonce: data.nonce }),
  };
}
