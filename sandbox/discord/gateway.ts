/** The gateway: sessions of the bot over WebSocket, with heartbeats, resuming and intents. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from 'discord.js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SessionState } from './control.ts';
import type { Events } from './events.ts';
import { compress, write } from './gateway-socket.ts';
import { apiMember, apiUser, guildCreate, withoutContent } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 41_250;
const REPLAYED = 5000;
/** Servers of one session. */
const GUILDS_MOST = 2500;
const PRIVILEGED = Intent.GuildMembers | Intent.GuildPresences | Intent.MessageContent;

interface Session {
  id: string;
  shard: [number, number];
  intents: number;
  sequence: number;
  sent: { s: number; text: string }[];
  socket: WebSocket | null;
  resumed: number;
}

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

/** Returns the shard that serves a server. */
const shardOf = (guildId: string, count: number): number => Number((BigInt(guildId) >> 22n) % BigInt(count));

/** The sessions that get an event: those with one of `intents` (0: all) whose shard serves the server. */
export interface Audience {
  guildId: string | null;
  intents: number;
}

/** The bot's sessions: which of them gets which event, even after a broken connection. */
export class Gateway {
  identifies = 0;
  resumes = 0;
  private readonly server = new WebSocketServer({ noServer: true });
  private readonly sessions = new Map<string, Session>();
  private readonly sockets = new Set<WebSocket>();
  private readonly parts: {
    world: World;
    events: Events;
    token: string;
    privileged: boolean;
    url: () => string;
    down: () => boolean;
  };

  constructor(parts: Gateway['parts']) {
    this.parts = parts;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.parts.down()) {
      socket.destroy();
      return;
    }
    this.server.handleUpgrade(request, socket, head, (client) => this.accept(client, request));
  }

  states(): SessionState[] {
    return [...this.sessions.values()].map(({ id, shard, socket, intents, resumed }) => ({
      id,
      shard,
      connected: socket !== null,
      intents,
      resumed,
    }));
  }

  get connected(): boolean {
    return [...this.sessions.values()].some(({ socket }) => socket !== null);
  }

  /** Sends an event to its sessions. A dropped session gets it when it resumes. */
  dispatch(name: string, data: Json, audience: Audience): void {
    for (const session of this.sessions.values()) {
      if (audience.intents !== 0 && !(session.intents & audience.intents)) continue;
      const [shard, count] = session.shard;
      if (shard !== (audience.guildId === null ? 0 : shardOf(audience.guildId, count))) continue;
      const isHidden = name.startsWith('MESSAGE_') && !(session.intents & Intent.MessageContent);
      this.send(
        session,
        name,
        isHidden && data.author && data.guild_id ? withoutContent(this.parts.world, data) : data,
      );
    }
  }

  /** Drops every connection without a close frame. */
  drop(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  reconnect(): void {
    for (const socket of this.sockets) write(socket, { op: Op.Reconnect, d: null, s: null, t: null });
  }

  invalidate(resumable: boolean): void {
    for (const session of this.sessions.values()) {
      if (session.socket) write(session.socket, { op: Op.InvalidSession, d: resumable, s: null, t: null });
      if (!resumable) this.sessions.delete(session.id);
    }
    this.report();
  }

  close(): void {
    this.sessions.clear();
    this.drop();
    this.server.close();
  }

  private report(): void {
    this.parts.events.emit({ type: 'sessions', sessions: this.states() });
  }

  private send(session: Session, name: string, data: Json): void {
    session.sequence += 1;
    const text = JSON.stringify({ t: name, s: session.sequence, op: Op.Dispatch, d: data });
    session.sent.push({ s: session.sequence, text });
    if (session.sent.length > 2 * REPLAYED) session.sent = session.sent.slice(-REPLAYED);
    if (session.socket) write(session.socket, text);
  }

  private accept(socket: WebSocket, request: IncomingMessage): void {
    const query = new URL(request.url ?? '/', 'http://gateway').searchParams;
    this.sockets.add(socket);
    if (query.get('compress') === 'zlib-stream') compress(socket);
    let session: Session | undefined;
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.sockets.delete(socket);
      if (session?.socket !== socket) return;
      session.socket = null;
      this.report();
    });
    if (!['10', '9'].includes(query.get('v') ?? '')) socket.close(...CLOSE.invalidVersion);
    else if ((query.get('encoding') ?? 'json') !== 'json') socket.close(...CLOSE.decodeError);
    else {
      socket.on('message', (raw) => {
        session = this.receive(socket, session, (raw as Buffer).toString()) ?? session;
      });
      write(socket, { op: Op.Hello, d: { heartbeat_interval: HEARTBEAT_MS, _trace: [] }, s: null, t: null });
    }
  }

  /** Handles one payload. Returns the session that it opened. */
  private receive(socket: WebSocket, session: Session | undefined, raw: string): Session | undefined {
    const refuse = ([code, reason]: readonly [number, string]): undefined => {
      socket.close(code, reason);
      return undefined;
    };
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
        const opened = payload.op === Op.Identify ? this.identify(socket, payload.d) : this.resume(socket, payload.d);
        return opened && !('id' in opened) ? refuse(opened) : (opened ?? undefined);
      }
      case Op.PresenceUpdate:
      case Op.VoiceStateUpdate:
      case Op.RequestGuildMembers:
        if (!session) return refuse(CLOSE.notAuthenticated);
        if (payload.op === Op.RequestGuildMembers) this.members(session, payload.d);
        return undefined;
      default:
        return refuse(CLOSE.unknownOpcode);
    }
  }

  private authentic(token: unknown): boolean {
    return typeof token === 'string' && token.replace(/^Bot /, '') === this.parts.token;
  }

  private identify(socket: WebSocket, data: Json): Session | readonly [number, string] {
    if (!this.authentic(data?.token)) return CLOSE.authenticationFailed;
    if (typeof data.properties !== 'object') return CLOSE.decodeError;
    if (!Number.isSafeInteger(data.intents) || data.intents < 0) return CLOSE.invalidIntents;
    if (data.intents & PRIVILEGED && !this.parts.privileged) return CLOSE.disallowedIntents;
    const [shard, count] = data.shard ?? [0, 1];
    if (!(shard >= 0 && shard < count)) return CLOSE.invalidShard;
    const { world } = this.parts;
    const guilds = [...world.guilds.values()].filter(({ id, present }) => present && shardOf(id, count) === shard);
    if (guilds.length > GUILDS_MOST) return CLOSE.shardingRequired;
    const session: Session = {
      id: randomBytes(16).toString('hex'),
      shard: [shard, count],
      intents: data.intents,
      sequence: 0,
      sent: [],
      socket,
      resumed: 0,
    };
    // A new session on a shard replaces sessions that were not resumed.
    for (const old of this.sessions.values())
      if (old.socket === null && old.shard.join() === session.shard.join()) this.sessions.delete(old.id);
    this.sessions.set(session.id, session);
    this.identifies += 1;
    this.send(session, 'READY', {
      v: 10,
      user: { ...apiUser(world.users.get(world.botId)!), verified: true, mfa_enabled: true, email: null },
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      session_type: 'normal',
      resume_gateway_url: this.parts.url(),
      shard: session.shard,
      application: { id: world.botId, flags: 0 },
      private_channels: [],
      presences: [],
      relationships: [],
      geo_ordered_rtc_regions: [],
      user_settings: {},
    });
    if (session.intents & Intent.Guilds)
      for (const guild of guilds) if (guild.available) this.send(session, 'GUILD_CREATE', guildCreate(world, guild));
    this.report();
    return session;
  }

  private resume(socket: WebSocket, data: Json): Session | readonly [number, string] | null {
    if (!this.authentic(data?.token)) return CLOSE.authenticationFailed;
    const session = this.sessions.get(data.session_id);
    const known =
      session && (data.seq === session.sequence || (session.sent[0]?.s ?? Number.POSITIVE_INFINITY) <= data.seq + 1);
    if (!session || !known) {
      write(socket, { op: Op.InvalidSession, d: false, s: null, t: null });
      return null;
    }
    if (data.seq > session.sequence) return CLOSE.invalidSequence;
    session.socket?.terminate();
    session.socket = socket;
    session.resumed += 1;
    this.resumes += 1;
    for (const { s, text } of session.sent) if (s > data.seq) write(socket, text);
    this.send(session, 'RESUMED', { _trace: [] });
    this.report();
    return session;
  }

  private members(session: Session, data: Json): void {
    const guild = this.parts.world.guilds.get(String(data?.guild_id));
    if (!guild?.present) return;
    const wanted: string[] = [data.user_ids ?? []].flat();
    const { world } = this.parts;
    const found = [...guild.members.values()]
      .filter(({ userId }) => wanted.includes(userId))
      .map((member) => apiMember(world, member));
    this.send(session, 'GUILD_MEMBERS_CHUNK', {
      guild_id: guild.id,
      members: found,
      chunk_index: 0,
      chunk_count: 1,
      not_found: wanted.filter((id) => !found.some(({ user }: Json) => user.id === id)),
      ...(data.nonce && { nonce: data.nonce }),
    });
  }
}
