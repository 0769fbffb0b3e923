/**
 * What one can ask of the stand-in from outside, in JSON. The TypeScript API and the HTTP routes under
 * `/_control` share these types:
 *
 * - `GET  /_control/state` → {@link State}
 * - `GET  /_control/events` → server-sent events, one {@link ControlEvent} in each `data:` line; `Last-Event-ID`
 *   (or `?after=<id>`) continues after that id as far as the last 1,000 reach, else the stream opens with `reset`
 * - `GET  /_control/messages?channelId=<id>` → {@link MessageState}[] with histories, oldest first
 * - `GET  /_control/requests?after=<number>` → {@link RequestRecord}[], oldest first (the last 10,000 are kept)
 * - `POST /_control/interactions` {@link InteractionRequest} → {@link InteractionState}, once it was acknowledged or
 *   has failed; with `?wait=final` once the reply is more than "thinking…"
 * - `GET  /_control/interactions/<id>` → {@link InteractionState}
 * - `POST /_control/world` {@link WorldAction} → {@link WorldResult}
 * - `GET  /_control/faults` → {@link FaultState}[]; `POST` {@link FaultRule} → {@link FaultState};
 *   `DELETE /_control/faults` or `/_control/faults/<id>` → 204
 *
 * A request that cannot be done answers 400 `{ "error": "<sentence>" }`. Objects that Discord itself defines
 * (messages, embeds, commands, modals) have exactly Discord's shape; everything around them is camelCase. Ids are
 * snowflakes as text, times are ISO 8601.
 */
import type {
  APIApplicationCommand,
  APIApplicationCommandOptionChoice,
  APIMessage,
  APIModalInteractionResponseCallbackData,
} from 'discord.js';

/** A permission's name as in Discord's documentation, in discord.js spelling, e.g. `ViewChannel`. */
export type PermissionName = keyof typeof import('discord.js').PermissionFlagsBits;

/** A person or bot. */
export interface UserState {
  id: string;
  username: string;
  displayName: string;
  bot: boolean;
  /** The language of this person's client, e.g. `en-US`. */
  locale: string;
}

/** A role; `permissions` is the decimal bit field, `color` is 0xRRGGBB. */
export interface RoleState {
  id: string;
  name: string;
  color: number;
  position: number;
  permissions: string;
  mentionable: boolean;
}

/** A channel's exception for a role (`type` 0) or a member (`type` 1); decimal bit fields. */
export interface Overwrite {
  id: string;
  type: 0 | 1;
  allow: string;
  deny: string;
}

/** A channel; `type` is Discord's number: 0 text, 1 direct message, 4 category, 5 announcement, 10–12 threads. */
export interface ChannelState {
  id: string;
  type: number;
  name: string;
  topic: string | null;
  position: number;
  /** null for direct messages. */
  guildId: string | null;
  /** A thread's channel or a channel's category. */
  parentId: string | null;
  /** The person of a direct message. */
  recipientId: string | null;
  archived: boolean;
  locked: boolean;
  overwrites: Overwrite[];
  /** Whether the bot sees the channel and may send here now. */
  botMaySend: boolean;
  /** The ids of the members who see this channel. */
  visibleTo: string[];
}

/** A person's membership; `permissions` is the computed decimal bit field in the server at large. */
export interface MemberState {
  userId: string;
  nick: string | null;
  roleIds: string[];
  permissions: string;
}

/** A server. `present` is false once the bot was removed; `available` is false during an outage of this server. */
export interface GuildState {
  id: string;
  name: string;
  locale: string;
  ownerId: string;
  present: boolean;
  available: boolean;
  roles: RoleState[];
  channels: ChannelState[];
  members: MemberState[];
}

/** One step in the life of a message; `message` is how it looked from then on. */
export interface MessageVersion {
  change: 'created' | 'edited' | 'deleted';
  at: string;
  message: APIMessage;
}

/** A message with everything that happened to it. `visibleTo` names the one person who sees an ephemeral one. */
export interface MessageState {
  id: string;
  channelId: string;
  guildId: string | null;
  visibleTo: string | null;
  deleted: boolean;
  /** As it looks now (or looked last). */
  message: APIMessage;
  /** Oldest first; at most the last 100 changes. */
  history: MessageVersion[];
}

/** A file as given to an attachment option; exactly one of `text` and `base64`. */
export interface FileInput {
  filename: string;
  contentType?: string;
  text?: string;
  base64?: string;
}

/** An option's value; users, roles, channels and mentionables are given by id. */
export type OptionInput = string | number | boolean | FileInput;

/** Who does something, and where (a server's channel, a thread or a direct message). */
interface Actor {
  userId: string;
  channelId: string;
  /** Send it even though a client would not offer it (no default permission, unknown choice, disabled button…). */
  unchecked?: boolean;
}

/** What a person can do to the bot. `name` of a slash command includes its group and subcommand: `subscription add`. */
export type InteractionRequest = Actor &
  (
    | { kind: 'command'; name: string; options?: Record<string, OptionInput> }
    | { kind: 'message-command'; name: string; messageId: string }
    | { kind: 'user-command'; name: string; targetId: string }
    | { kind: 'autocomplete'; name: string; options?: Record<string, OptionInput>; focused: string }
    | { kind: 'button'; messageId: string; customId: string }
    /** `values` are the chosen options' values, or ids in menus of users, roles and channels. */
    | { kind: 'select'; messageId: string; customId: string; values: string[] }
    /** Sends the form that the named interaction was answered with; `values` by custom id. */
    | { kind: 'modal'; interactionId: string; values: Record<string, string | string[]> }
  );

/**
 * What came of an interaction: `waiting` → `acknowledged` (answered; a `loading` reply still says "thinking…"), or
 * `failed` (the bot did not answer in 3 s, or no bot was connected).
 */
export interface InteractionState {
  id: string;
  kind: InteractionRequest['kind'];
  /** The command's full name, or the custom id. */
  name: string;
  userId: string;
  channelId: string;
  guildId: string | null;
  at: string;
  status: 'waiting' | 'acknowledged' | 'failed';
  /** Discord's number of the callback: 4 message, 5 deferred, 6 deferred update, 7 update, 8 choices, 9 modal. */
  responseType: number | null;
  /** Time to the acknowledgement. */
  ackMs: number | null;
  /** Whether `reply` still says "thinking…". */
  loading: boolean;
  /** The message `@original`: the reply, or for 6 and 7 the message that the component is on. */
  reply: MessageState | null;
  followups: MessageState[];
  modal: APIModalInteractionResponseCallbackData | null;
  choices: APIApplicationCommandOptionChoice[] | null;
  /** What the person is told on failure. */
  failure: string | null;
}

/** Changes to the world, as an owner, a member or Discord itself makes them. */
export type WorldAction =
  | { do: 'user.create'; username: string; displayName?: string; locale?: string }
  | { do: 'user.update'; userId: string; locale?: string; displayName?: string; acceptsDirectMessages?: boolean }
  | { do: 'guild.create'; name: string; ownerId: string; locale?: string }
  | { do: 'guild.update'; guildId: string; name?: string; locale?: string }
  /** An outage of this server, and its end. */
  | { do: 'guild.unavailable' | 'guild.available'; guildId: string }
  /** The bot is removed from the server, and added again. */
  | { do: 'guild.remove' | 'guild.add'; guildId: string }
  | {
      do: 'channel.create';
      guildId: string;
      name: string;
      /** Default 0, text. */
      type?: number;
      parentId?: string;
      topic?: string;
      overwrites?: Overwrite[];
    }
  | {
      do: 'channel.update';
      channelId: string;
      name?: string;
      topic?: string | null;
      overwrites?: Overwrite[];
      archived?: boolean;
      locked?: boolean;
    }
  | { do: 'channel.delete'; channelId: string }
  /** Takes permissions from the bot in this channel (default: ViewChannel), and gives them back. */
  | { do: 'channel.forbid'; channelId: string; permissions?: PermissionName[] }
  | { do: 'channel.allow'; channelId: string }
  | {
      do: 'role.create';
      guildId: string;
      name: string;
      permissions?: PermissionName[];
      color?: number;
      mentionable?: boolean;
    }
  | { do: 'role.update'; roleId: string; name?: string; permissions?: PermissionName[]; mentionable?: boolean }
  | { do: 'role.delete'; roleId: string }
  | { do: 'member.add'; guildId: string; userId: string; roleIds?: string[] }
  | { do: 'member.update'; guildId: string; userId: string; roleIds?: string[]; nick?: string | null }
  | { do: 'member.remove'; guildId: string; userId: string }
  /** The direct-message channel of a person with the bot; made when there is none. */
  | { do: 'dm.open'; userId: string }
  | { do: 'message.send'; channelId: string; userId: string; content: string }
  | { do: 'message.delete'; messageId: string }
  /** Drops every gateway connection without a word (the session can be resumed). */
  | { do: 'gateway.drop' }
  /** Asks every connection to reconnect and resume (op 7). */
  | { do: 'gateway.reconnect' }
  /** Ends every session (op 9). */
  | { do: 'gateway.invalidate'; resumable?: boolean }
  /** Every message, interaction, fault, request and counter is forgotten; servers and commands stay. */
  | { do: 'forget' };

/** The id of what was made or changed, if it is one thing. */
export interface WorldResult {
  id: string | null;
}

/** What goes wrong with a request to the REST API, or with the whole service. */
export type Fault =
  /** Discord's JSON error; the request has no effect. */
  | { kind: 'error'; status: number; code?: number; message?: string }
  /** 429; `headers: false` leaves out every rate-limit header and the body's `retry_after`. */
  | { kind: 'rate-limit'; retryAfterMs: number; global?: boolean; headers?: boolean }
  /** An HTML page of the proxy in front of Discord. */
  | { kind: 'cloudflare'; status: number }
  /** Done, but the answer stops half-way through its body. */
  | { kind: 'cut' }
  /** Done, but the connection breaks before the answer. */
  | { kind: 'lost' }
  /** The connection breaks before anything is done. */
  | { kind: 'reset' }
  /** Never an answer; `done` tells whether the request had its effect. */
  | { kind: 'hang'; done?: boolean }
  | { kind: 'delay'; ms: number }
  /** Gateway connections are dropped and refused; REST goes on. */
  | { kind: 'gateway-down' }
  /** All of Discord: every connection is dropped and refused. */
  | { kind: 'away' };

/**
 * A fault, the requests it meets (all conditions must hold; none = every request of the bot) and how long it lasts:
 * `times` requests, `forMs`, or until it is cleared. `path` is a path below `/api/v10` in which a segment that starts
 * with a colon stands for any one, and a final `**` for any rest: `/channels/:channel/messages`, `/webhooks/**`. The
 * oldest fault that matches acts.
 */
export interface FaultRule {
  fault: Fault;
  method?: string;
  path?: string;
  channelId?: string;
  /** Let this many matching requests pass first. */
  skip?: number;
  times?: number;
  forMs?: number;
}

/** A fault in force; `hits` counts the requests it met. */
export interface FaultState extends FaultRule {
  id: string;
  hits: number;
}

/** A request of the bot, secrets removed. `status` is null while it runs or when it never got an answer. */
export interface RequestRecord {
  number: number;
  at: string;
  method: string;
  /** Below `/api/v10`, with its query; interaction tokens are shortened. */
  path: string;
  headers: Record<string, string>;
  status: number | null;
  /** Discord's error code in the answer. */
  code: number | null;
  /** The kind of fault that met it. */
  fault: Fault['kind'] | null;
  ms: number | null;
}

/** A gateway session of the bot. */
export interface SessionState {
  id: string;
  shard: [id: number, count: number];
  connected: boolean;
  intents: number;
  resumed: number;
}

/** Counted since the start or the last `forget`. */
interface Counters {
  requests: number;
  messages: number;
  rateLimited: number;
  /** 401, 403 and 429: what Discord bans an address for at 10,000 in 10 minutes. */
  invalidRequests: number;
  refusedBodies: number;
  identifies: number;
  resumes: number;
}

/** Registered commands: `guildId` null is global. */
export interface CommandsState {
  guildId: string | null;
  commands: APIApplicationCommand[];
}

/** Everything at once. `messages` holds the last 200 undeleted ones of each channel, oldest first. */
export interface State {
  /** Root of the stand-in, e.g. `http://127.0.0.1:4000`. */
  url: string;
  /** Value for the bot's REST root, e.g. `http://127.0.0.1:4000/api`. */
  apiUrl: string;
  applicationId: string;
  botId: string;
  users: UserState[];
  guilds: GuildState[];
  directMessages: ChannelState[];
  commands: CommandsState[];
  messages: MessageState[];
  interactions: InteractionState[];
  faults: FaultState[];
  sessions: SessionState[];
  counters: Counters;
  /** Events after this one are not yet part of this state. */
  lastEventId: number;
}

/** What happened; whole states, so that a listener replaces what it had. */
export type ControlEvent = { id: number; at: string } & (
  | { type: 'message'; change: MessageVersion['change']; message: MessageState }
  | { type: 'interaction'; interaction: InteractionState }
  | { type: 'typing'; channelId: string; userId: string }
  | { type: 'commands'; commands: CommandsState }
  | { type: 'guild'; guild: GuildState }
  | { type: 'users'; users: UserState[] }
  | { type: 'direct-message'; channel: ChannelState }
  | { type: 'sessions'; sessions: SessionState[] }
  | { type: 'faults'; faults: FaultState[] }
  | { type: 'request'; request: RequestRecord }
  /** Read `/_control/state` again. */
  | { type: 'reset' }
);
