/** What the stand-in tells of itself: states, and events that bear them. */
import type {
  APIApplicationCommand,
  APIApplicationCommandOptionChoice,
  APIMessage,
  APIModalInteractionResponseCallbackData,
} from 'discord.js';
import type { Fault, FaultRule, InteractionRequest, Overwrite } from './control-actions.ts';

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
