/**
 * The messages between the page and its server, in JSON. The page also uses the Discord stand-in's `/_control` routes,
 * which the server forwards.
 *
 * - `GET  /_sandbox/events` → server-sent events, one {@link PageEvent} in each `data:` line; the first is `hello`
 * - `POST /_sandbox/act` {@link PageAction} → `{ "message": "<sentence>" }`; 400 `{ "error": "<sentence>" }` when it is not possible
 *
 * Times are milliseconds since 1970, addresses EIP-55 checksummed, amounts decimal text in the token's units.
 */
import { z } from 'zod';
import type { Faults } from '../../services/notification/types.ts';
import type { Token, TokenName } from '../chain/types.ts';
import type { ControlEvent, State } from '../discord/control.ts';

const party = z.string().regex(/^(0x[0-9a-fA-F]{40}|[A-Z][a-z]+)$/, 'is a wallet’s name or 0x and 40 hex digits');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is 0x and 40 hex digits');
const amount = z.string().regex(/^\d{1,30}(\.\d{1,18})?$/, 'is a number like 12.5');
const token = z.enum(['dollar', 'bell', 'hostile', 'fake', 'keys', 'names', 'supplies']);
const priceFault = z.enum(['none', 'away', 'wrong', 'old']);
const between = { from: party, to: party };

/** The page's actions on the world outside Discord. */
const pageAction = z.discriminatedUnion('do', [
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
  z.object({ do: z.literal('identical-transfers'), ...between }),
  z.object({ do: z.literal('mint'), to: party, token: token.optional() }),
  z.object({ do: z.literal('burn'), from: party, token: token.optional() }),
  /** Everyday transfers, on or off. */
  z.object({ do: z.literal('traffic'), on: z.boolean() }),
  /** Adds the address to the webhook, or removes it. */
  z.object({ do: z.enum(['watch', 'unwatch']), address }),
  /** Changes the notification service's faults. Faults that are left out stay. */
  z.object({
    do: z.literal('notification'),
    faults: z
      .object({
        repeat: z.number().int().min(0).max(5),
        repeatAfterMs: z.number().int().min(0).max(600_000),
        delayMs: z.number().int().min(0).max(600_000),
        reorder: z.boolean(),
        paused: z.boolean(),
        lose: z.boolean(),
        invent: z.boolean(),
      })
      .exactPartial(),
  }),
  /** Breaks the price source: it is away, wrong by a thousand, or its prices are old. */
  z.object({ do: z.literal('prices'), fault: priceFault }),
  /** Sends what waits for a retry or a repetition at once. */
  z.object({ do: z.literal('deliver') }),
  /** Starts another chain with services of its own, as the bot's second network. */
  z.object({ do: z.literal('second-network') }),
  /** `kill` is SIGKILL. `restart` is SIGTERM and a start. */
  z.object({ do: z.literal('bot'), what: z.enum(['kill', 'start', 'restart']) }),
]);

/** What is wrong with the price source. */
export type PriceFault = z.infer<typeof priceFault>;

/** One action of the page. */
export type PageAction = z.infer<typeof pageAction>;

/** An action on one of the networks: 0 is the first. */
export const pageRequest = z.object({ network: z.number().int().min(0).max(1).default(0) }).and(pageAction);

/** The bot's process. */
export interface BotState {
  state: 'running' | 'stopping' | 'stopped';
  pid: number | null;
  /** How many times it was started. */
  starts: number;
  since: number;
  /** Why it stopped, as a sentence. */
  note: string | null;
}

/** What the page shows of one network. */
export interface NetworkState {
  title: string;
  /** The webhook's addresses. */
  watched: string[];
  notification: Faults;
  traffic: boolean;
  /** The block explorer's root, for links such as `/tx/…`. */
  explorerUrl: string;
}

/** Everything outside Discord that the page shows, beginning with the first network. */
export interface WorldState extends NetworkState {
  /** The same on both networks. */
  wallets: Record<string, string>;
  tokens: Record<TokenName, Token>;
  bot: BotState;
  prices: PriceFault;
  /** How many transfers the bot found on the chain because the service had not delivered them. */
  found: number;
  /** How many transfers it marked because the chain does not have them. */
  marked: number;
  /** null until somebody asks for it. */
  second: NetworkState | 'starting' | null;
}

/** One attempt to deliver an event. `answeredAt` is null while it runs; `status` is null then and without a response. */
export interface Attempt {
  at: number;
  answeredAt: number | null;
  status: number | null;
  error: string | null;
}

/** The delivery of one event from the notification service to the bot's receiver. */
export interface Delivery {
  id: number;
  noticedAt: number;
  attempts: Attempt[];
  /** When it is sent again, or null. */
  next: { at: number; reason: 'retry' | 'repeat' } | null;
  /** When the bot first responded 200: from then on the event is on the bot's disk. */
  storedAt: number | null;
  /** True once the service has given up. */
  exhausted: boolean;
}

/** A message that reports a transaction. `alerts` is how many of its alerts do; 0 for a digest. */
export interface Post {
  messageId: string;
  channelId: string;
  at: number;
  alerts: number;
}

/** What the bot decided about a transaction: when its first alert was made, and what hid it, in words. */
export interface Routing {
  at: number | null;
  /** Whether a subscription matched, so that an alert is posted. */
  isMatched: boolean;
  hidden: string[];
}

/** One transaction on its way from its block to the channels. */
export interface TrackedTransaction {
  /** 0: the first. */
  network: number;
  txHash: string;
  /** What happens in it, in one sentence; null when the sandbox did not send it. */
  summary: string | null;
  blockNumber: number;
  minedAt: number;
  deliveries: Delivery[];
  /** Null until the bot has decided. */
  routed: Routing | null;
  posted: Post[];
}

/** What the server sends to the page. */
export type PageEvent =
  /** The whole state, at the start of each stream. */
  | { type: 'hello'; discord: State; world: WorldState; transactions: TrackedTransaction[] }
  | { type: 'discord'; event: ControlEvent }
  | { type: 'world'; world: WorldState }
  /** New and changed ones, oldest first. */
  | { type: 'transactions'; transactions: TrackedTransaction[] };
