/**
 * What the page and its server tell each other, in JSON. Besides this the page uses the Discord stand-in's own
 * `/_control` routes, which the server passes on.
 *
 * - `GET  /_sandbox/events` → server-sent events, one {@link PageEvent} in each `data:` line; the first is `hello`
 * - `POST /_sandbox/act` {@link Act} → {@link ActResult}; 400 `{ "error": "<sentence>" }` when it cannot be done
 *
 * Times are milliseconds since 1970, addresses EIP-55 checksummed, amounts decimal text in the token's units.
 */
import { z } from 'zod';
import type { Faults } from '../../services/notification/types.ts';
import type { Token, TokenName } from '../chain/index.ts';
import type { ControlEvent, State } from '../discord/control.ts';

const party = z.string().regex(/^(0x[0-9a-fA-F]{40}|[A-Z][a-z]+)$/, 'is a wallet’s name or 0x and 40 hex digits');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is 0x and 40 hex digits');
const amount = z.string().regex(/^\d{1,30}(\.\d{1,18})?$/, 'is a number like 12.5');
const token = z.enum(['dollar', 'bell', 'hostile', 'fake', 'keys', 'names', 'supplies']);
const between = { from: party, to: party };

/** What the page can have done to the world outside Discord. */
export const act = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('transfer'),
    kind: z.enum(['native', 'internal', 'erc20', 'erc721', 'erc1155']),
    ...between,
    amount: amount.optional(),
    token: token.optional(),
    batch: z.boolean().optional(),
  }),
  z.object({ do: z.literal('burst'), count: z.number().int().min(1).max(500) }),
  z.object({ do: z.literal('swap'), from: party }),
  z.object({ do: z.literal('sweep'), ...between, count: z.number().int().min(1).max(50) }),
  z.object({ do: z.literal('lookalike'), like: party, to: party }),
  z.object({ do: z.enum(['hostile', 'fake', 'twins']), ...between }),
  z.object({ do: z.literal('mint'), to: party, token: token.optional() }),
  z.object({ do: z.literal('burn'), from: party, token: token.optional() }),
  /** Everyday transfers, on or off. */
  z.object({ do: z.literal('traffic'), on: z.boolean() }),
  /** Adds the address to the webhook, or takes it out. */
  z.object({ do: z.enum(['watch', 'unwatch']), address }),
  /** What the notification service does wrong; what is left out stays. */
  z.object({
    do: z.literal('notification'),
    faults: z
      .object({
        repeat: z.number().int().min(0).max(5),
        repeatAfterMs: z.number().int().min(0).max(600_000),
        delayMs: z.number().int().min(0).max(600_000),
        reorder: z.boolean(),
        paused: z.boolean(),
      })
      .partial(),
  }),
  /** Sends what waits for a retry or a repetition at once. */
  z.object({ do: z.literal('deliver') }),
  /** `kill` is SIGKILL; `restart` asks politely (SIGTERM) and starts it again. */
  z.object({ do: z.literal('bot'), what: z.enum(['kill', 'start', 'restart']) }),
]);

/** One wish of the page; see {@link act}. */
export type Act = z.infer<typeof act>;

/** What came of it, as a sentence. */
export interface ActResult {
  told: string;
}

/** The bot's process. */
export interface BotState {
  state: 'running' | 'stopping' | 'stopped';
  pid: number | null;
  /** How often it was started. */
  starts: number;
  since: number;
  /** Why it is stopped, as a sentence. */
  note: string | null;
}

/** Everything outside Discord that the page shows. */
export interface WorldState {
  chain: { kind: 'anvil' | 'scripted'; notice: string | null };
  wallets: Record<string, string>;
  tokens: Record<TokenName, Token>;
  /** The webhook's addresses. */
  watched: string[];
  notification: Faults;
  bot: BotState;
  traffic: boolean;
  /** The block explorer's root, for links: `/tx/…`. */
  explorerUrl: string;
}

/** One try to deliver an event to the bot; `status` and `answeredAt` are null while it runs, `status` also when it broke. */
export interface Attempt {
  at: number;
  answeredAt: number | null;
  status: number | null;
  error: string | null;
}

/** The way of one event from the notification service to the bot's receiver. */
export interface Delivery {
  id: number;
  noticedAt: number;
  attempts: Attempt[];
  /** When it will be sent again, if it will. */
  next: { at: number; reason: 'retry' | 'repeat' } | null;
  /** When the bot answered 200 first: from then on the event is on the bot's disk. */
  storedAt: number | null;
  /** True once the service gave up. */
  exhausted: boolean;
}

/** A message that tells of a transaction, with how many of its lines do; a digest that counts it has 0. */
export interface Told {
  messageId: string;
  channelId: string;
  at: number;
  lines: number;
}

/** What the bot decided about a transaction: when its first line was made, and what hid it from the subscriptions that saw it. */
export interface Routing {
  at: number | null;
  lines: boolean;
  hidden: string[];
}

/** The way of one transaction from its block to the channels. */
export interface Journey {
  txHash: string;
  /** What happens in it, in one sentence; null when somebody else sent it. */
  summary: string | null;
  blockNumber: number;
  minedAt: number;
  deliveries: Delivery[];
  /** Null until the bot has decided. */
  routed: Routing | null;
  told: Told[];
}

/** What the server tells the page. */
export type PageEvent =
  /** Everything, at the start of each stream; what follows is news. */
  | { type: 'hello'; discord: State; world: WorldState; journeys: Journey[] }
  | { type: 'discord'; event: ControlEvent }
  | { type: 'world'; world: WorldState }
  /** New and changed ones, oldest first. */
  | { type: 'journeys'; journeys: Journey[] };
