/** As discord.js spells it: `ViewChannel`. */
export type PermissionName = keyof typeof import('discord-api-types/v10').PermissionFlagsBits;

/** A channel's exception for a role (`type` 0) or a member (`type` 1); decimal bit fields. */
export interface Overwrite {
  id: string;
  type: 0 | 1;
  allow: string;
  deny: string;
}

/** A file for an attachment option, with exactly one of `text` and `base64`. */
export interface FileInput {
  filename: string;
  contentType?: string;
  text?: string;
  base64?: string;
}

/** An option's value. Users, roles, channels and mentionables are ids. */
export type OptionInput = string | number | boolean | FileInput;

/** The channel may also be a thread or a direct message. */
interface Actor {
  userId: string;
  channelId: string;
  /** Sends it even if a client would refuse it (missing permission, unknown choice, disabled button…). */
  unchecked?: boolean;
}

/** A person's action. The `name` of a slash command includes its group and subcommand: `subscription add`. */
export type InteractionRequest = Actor &
  (
    | { kind: 'command'; name: string; options?: Record<string, OptionInput> }
    | { kind: 'message-command'; name: string; messageId: string }
    | { kind: 'user-command'; name: string; targetId: string }
    | { kind: 'autocomplete'; name: string; options?: Record<string, OptionInput>; focused: string }
    | { kind: 'button'; messageId: string; customId: string }
    /** `values` are the chosen options' values, or ids in menus of users, roles and channels. */
    | { kind: 'select'; messageId: string; customId: string; values: string[] }
    /** Submits the form that the interaction opened. `values` are by custom id. */
    | { kind: 'modal'; interactionId: string; values: Record<string, string | string[]> }
  );

export type WorldAction =
  | { do: 'user.create'; username: string; displayName?: string; locale?: string }
  | { do: 'user.update'; userId: string; locale?: string; displayName?: string; acceptsDirectMessages?: boolean }
  | { do: 'guild.create'; name: string; ownerId: string; locale?: string }
  | { do: 'guild.update'; guildId: string; name?: string; locale?: string }
  /** An outage of this server, and its end. */
  | { do: 'guild.unavailable' | 'guild.available'; guildId: string }
  /** Removes the bot from the server, and adds it again. */
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
  /** Denies the bot permissions in this channel (default: ViewChannel), and allows them again. */
  | { do: 'channel.forbid'; channelId: string; permissions?: PermissionName[] }
  | { do: 'channel.allow'; channelId: string }
  /** Removes the bot from a private thread. A mention adds it. */
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
  | { do: 'dm.open'; userId: string }
  | { do: 'message.send'; channelId: string; userId: string; content: string }
  | { do: 'message.delete'; messageId: string }
  /** Drops every gateway connection without a close frame. The sessions can be resumed. */
  | { do: 'gateway.drop' }
  /** Asks every connection to reconnect and resume (op 7). */
  | { do: 'gateway.reconnect' }
  /** Ends every session (op 9). */
  | { do: 'gateway.invalidate'; resumable?: boolean }
  /** Deletes every message, interaction, fault, request and counter. Servers and commands stay. */
  | { do: 'forget' };

/** The id of what was created or changed, if it is one thing. */
export interface WorldResult {
  id: string | null;
}

export type Fault =
  /** Discord's JSON error. The request has no effect. */
  | { kind: 'error'; status: number; code?: number; message?: string }
  /** 429. `headers: false` omits every rate-limit header and the body's `retry_after`. */
  | { kind: 'rate-limit'; retryAfterMs: number; global?: boolean; headers?: boolean }
  | { kind: 'cloudflare'; status: number }
  /** The request has its effect, but the response stops halfway through its body. */
  | { kind: 'cut' }
  /** The request has its effect, but the connection breaks before the response. */
  | { kind: 'lost' }
  /** The connection breaks and the request has no effect. */
  | { kind: 'reset' }
  /** No response, ever. `done`: whether the request has its effect. */
  | { kind: 'hang'; done?: boolean }
  | { kind: 'delay'; ms: number }
  /** Gateway connections are dropped and refused, of all shards or of one. REST still works. */
  | { kind: 'gateway-down'; shard?: number }
  /** All of Discord: every connection is dropped and refused. */
  | { kind: 'away' };

/**
 * A fault, the requests that it affects (all conditions must hold; without any, every request) and how long it lasts:
 * `times` requests, `forMs`, or until it is cleared. `path` is below `/api/v10`. A segment that starts with a colon
 * matches any segment, and a final `**` any rest: `/channels/:channel/messages`, `/webhooks/**`. The oldest matching
 * fault applies.
 */
export interface FaultRule {
  fault: Fault;
  method?: string;
  path?: string;
  channelId?: string;
  /** How many matching requests pass first. */
  skip?: number;
  times?: number;
  forMs?: number;
}
