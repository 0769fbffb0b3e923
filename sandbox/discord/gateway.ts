import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from 'discord.js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Base } from './base.ts';
import {
  type Audience,
  compress,
  createSessions,
  createStarts,
  type Session,
  type SessionStarts,
  shardOf,
  write,
} from './gateway-sessions.ts';
import { apiMember, apiUser, guildCreate } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 41_250;
const MAX_SESSION_GUILDS = 2_500;
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

function refuse(socket: WebSocket, [code, reason]: (typeof CLOSE)[keyof typeof CLOSE]): null {
  socket.close(code, reason);
  return null;
}

interface GatewayOptions {
  starts: Partial<SessionStarts>;
  /** Without a shard: whether all connections are refused. */
  down: (shard?: number) => boolean;
  tamper: ((name: string, data: Json) => Json) | undefined;
}

export type Gateway = ReturnType<typeof createGateway>;

export function createGateway(base: Base, { starts: limits, down, tamper = (_name, data) => data }: GatewayOptions) {
  const server = new WebSocketServer({ noServer: true });
  const sessions = createSessions(base);
  const starts = createStarts(base, limits);
  const handshakes = createHandshakes(base, sessions, starts, down);

  function accept(socket: WebSocket, request: IncomingMessage): void {
    const query = new URL(request.url ?? '/', 'http://gateway').searchParams;
    if (query.get('compress') === 'zlib-stream') compress(socket);
    let session: Session | undefined;
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
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

  /** Returns the session that the payload opened. */
  function receive(socket: WebSocket, session: Session | undefined, raw: string): Session | null {
    let payload: Json;
    try {
      payload = JSON.parse(raw);
    } catch {
      return refuse(socket, CLOSE.decodeError);
    }
    switch (payload?.op) {
      case Op.Heartbeat:
        write(socket, { op: Op.HeartbeatAck, d: null, s: null, t: null });
        return null;
      case Op.Identify:
      case Op.Resume:
        if (session) return refuse(socket, CLOSE.alreadyAuthenticated);
        return handshakes[payload.op === Op.Identify ? 'identify' : 'resume'](socket, payload.d);
      case Op.PresenceUpdate:
      case Op.VoiceStateUpdate:
      case Op.RequestGuildMembers:
        if (!session) return refuse(socket, CLOSE.notAuthenticated);
        if (payload.op === Op.RequestGuildMembers) {
          const chunk = membersChunk(base.world, payload.d);
          if (chunk) sessions.send(session, 'GUILD_MEMBERS_CHUNK', chunk);
        }
        return null;
      default:
        return refuse(socket, CLOSE.unknownOpcode);
    }
  }

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      if (down()) socket.destroy();
      else server.handleUpgrade(request, socket, head, (client) => accept(client, request));
    },

    /** Counted since the last `forget`. */
    counts: handshakes.counts,
    information: starts.information,
    states: sessions.states,

    dispatch(name: string, data: Json, audience: Audience): void {
      sessions.dispatch(name, tamper(name, data), audience);
    },

    /** Sends no close frame. Without a shard, drops every connection. */
    drop(shard?: number): void {
      if (shard !== undefined) sessions.drop(shard);
      else for (const socket of server.clients) socket.terminate();
    },
    reconnect(): void {
      for (const socket of server.clients) write(socket, { op: Op.Reconnect, d: null, s: null, t: null });
    },
    invalidate: sessions.invalidate,

    close(): void {
      sessions.clear();
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

function createHandshakes(
  base: Base,
  sessions: ReturnType<typeof createSessions>,
  starts: ReturnType<typeof createStarts>,
  down: GatewayOptions['down'],
) {
  const { world, token, privilegedIntents } = base;
  const counts = { identifies: 0, refusedIdentifies: 0, resumes: 0 };
  const isAuthentic = (given: unknown) => typeof given === 'string' && given.replace(/^Bot /, '') === token;

  return {
    counts,

    /** Returns null when it is refused, when the shard is down, or when it identified too soon. */
    identify(socket: WebSocket, data: Json): Session | null {
      if (!isAuthentic(data?.token)) return refuse(socket, CLOSE.authenticationFailed);
      if (typeof data.properties !== 'object') return refuse(socket, CLOSE.decodeError);
      if (!Number.isSafeInteger(data.intents) || data.intents < 0) return refuse(socket, CLOSE.invalidIntents);
      if (data.intents & PRIVILEGED && !privilegedIntents) return refuse(socket, CLOSE.disallowedIntents);
      const [shard, count] = data.shard ?? [0, 1];
      if (!(shard >= 0 && shard < count)) return refuse(socket, CLOSE.invalidShard);
      if (down(shard)) {
        socket.terminate();
        return null;
      }
      const guilds = [...world.guilds.values()].filter(({ id, present }) => present && shardOf(id, count) === shard);
      if (guilds.length > MAX_SESSION_GUILDS) return refuse(socket, CLOSE.shardingRequired);
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
        resume_gateway_url: base.url.replace(/^http/, 'ws'),
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

    /**
     * Returns null when it is refused, when the shard is down, or when the session is over: the bot then logs in again.
     */
    resume(socket: WebSocket, data: Json): Session | null {
      if (!isAuthentic(data?.token)) return refuse(socket, CLOSE.authenticationFailed);
      const session = sessions.resumable(data.session_id, data.seq);
      if (!session) {
        write(socket, { op: Op.InvalidSession, d: false, s: null, t: null });
        return null;
      }
      if (down(session.shard[0])) {
        socket.terminate();
        return null;
      }
      if (data.seq > session.sequence) return refuse(socket, CLOSE.invalidSequence);
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

/** null where the bot is not in the server. */
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
