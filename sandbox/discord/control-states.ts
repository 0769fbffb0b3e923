import type {
  APIApplicationCommand,
  APIApplicationCommandOptionChoice,
  APIMessage,
  APIModalInteractionResponseCallbackData,
} from 'discord-api-types/v10';
import type { Fault, FaultRule, InteractionRequest, Overwrite } from './control-actions.ts';

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

/** A channel; `type` is Discord's number: 0 text, 1 direct message, 4 category, 5 announcement, 10–12 threads, 15 forum. */
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
  /** The bot sees the channel and may send here now. */
  botMaySend: boolean;
  /** The ids of the members who see this channel. */
  visibleTo: string[];
}

/** `permissions` is the computed decimal bit field in the server at large. */
export interface MemberState {
  userId: string;
  nick: string | null;
  roleIds: string[];
  permissions: string;
}

/** `present` is false once the bot was removed, `available` during an outage of this server. */
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

/** `message` is how it looked after the change. */
export interface MessageVersion {
  change: 'created' | 'edited' | 'deleted';
  at: string;
  message: APIMessage;
}

/** `visibleTo` is the only person who sees an ephemeral message. */
export interface MessageState {
  id: string;
  channelId: string;
  guildId: string | null;
  visibleTo: string | null;
  deleted: boolean;
  message: APIMessage;
  /** Oldest first; at most the last 100 changes. */
  history: MessageVersion[];
}

/**
 * The state of an interaction: `waiting` → `acknowledged` (a `loading` reply still shows "thinking…"), or `failed` (the
 * bot did not respond within 3 s, or no bot was connected).
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
  ackMs: number | null;
  /** `reply` still shows "thinking…". */
  loading: boolean;
  /** The message `@original`: the reply, or for 6 and 7 the message that the component is on. */
  reply: MessageState | null;
  followups: MessageState[];
  modal: APIModalInteractionResponseCallbackData | null;
  choices: APIApplicationCommandOptionChoice[] | null;
  failure: string | null;
}

/** `hits` counts the requests that it affected. */
export interface FaultState extends FaultRule {
  id: string;
  hits: number;
}

/** Without secrets. `status` is null while it runs and when it got no response. */
export interface RequestRecord {
  number: number;
  at: string;
  method: string;
  /** Below `/api/v10`, with its query. Interaction tokens are shortened. */
  path: string;
  status: number | null;
  /** Discord's error code in the response. */
  code: number | null;
  fault: Fault['kind'] | null;
  ms: number | null;
}

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
  /** 401, 403 and 429 responses: Discord bans an IP address at 10,000 in 10 minutes. */
  invalidRequests: number;
  refusedBodies: number;
  identifies: number;
  /** Shards that identified sooner than `sessionStarts` allows. */
  refusedIdentifies: number;
  resumes: number;
}

/** `guildId` null: the global ones. */
export interface CommandsState {
  guildId: string | null;
  commands: APIApplicationCommand[];
}

/** `messages` has the last 200 of each channel, oldest first, without deleted ones. */
export interface State {
  url: string;
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
}

/** Events carry whole states, so a listener replaces what it had. */
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
