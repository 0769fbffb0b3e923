/** What the stand-in can be asked to do: as a person, to the world, and what is to go wrong. */

/** A permission's name as in Discord's documentation, in discord.js spelling, e.g. `ViewChannel`. */
export type PermissionName = keyof typeof import('discord.js').PermissionFlagsBits;

/** A channel's exception for a role (`type` 0) or a member (`type` 1); decimal bit fields. */
export interface Overwrite {
  id: string;
  type: 0 | 1;
  allow: string;
  deny: string;
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
  /** Takes the bot out of a private thread, into which a mention brings it. */
  | { do: 'thread.expel'; channelId: string }
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
