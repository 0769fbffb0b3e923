/**
 * The messages between the page and its server, in JSON. The server also forwards the stand-in's `/_control` routes.
 *
 * - `GET /_sandbox/events` → server-sent events, one {@link PageEvent} in each `data:` line; the first is `hello`
 * - `POST /_sandbox/act` {@link PageAction} → `{ "message": "<sentence>" }`; 400 `{ "error": "<sentence>" }`
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
  z.object({ do: z.literal('traffic'), on: z.boolean() }),
  z.object({ do: z.enum(['watch', 'unwatch']), address }),
  /** Faults that are left out stay. */
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
  z.object({ do: z.literal('prices'), fault: priceFault }),
  /** Sends what waits for a retry or a repetition at once. */
  z.object({ do: z.literal('deliver') }),
  z.object({ do: z.literal('second-network') }),
  /** `kill` is SIGKILL, `restart` SIGTERM and a start. */
  z.object({ do: z.literal('bot'), what: z.enum(['kill', 'start', 'restart']) }),
]);

export type PriceFault = z.infer<typeof priceFault>;

export type PageAction = z.infer<typeof pageAction>;

/** 0 is the first network. */
export const pageRequest = z.object({ network: z.number().int().min(0).max(1).default(0) }).and(pageAction);

export interface BotState {
  state: 'running' | 'stopping' | 'stopped';
  pid: number | null;
  starts: number;
  since: number;
  note: string | null;
}

export interface NetworkState {
  title: string;
  watched: string[];
  notification: Faults;
  traffic: boolean;
  explorerUrl: string;
}

/** `watched` to `explorerUrl` are the first network's. */
export interface WorldState extends NetworkState {
  /** The same on both networks, like `tokens`. */
  wallets: Record<string, string>;
  tokens: Record<TokenName, Token>;
  bot: BotState;
  prices: PriceFault;
  /** How many transfers the bot found on the chain, and how many it marked because the chain lacks them. */
  found: number;
  marked: number;
  /** null until somebody asks for it. */
  second: NetworkState | 'starting' | null;
}

/** `answeredAt` is null while it runs; `status` is null then and without a response. */
export interface Attempt {
  at: number;
  answeredAt: number | null;
  status: number | null;
  error: string | null;
}

export interface Delivery {
  id: number;
  noticedAt: number;
  attempts: Attempt[];
  next: { at: number; reason: 'retry' | 'repeat' } | null;
  /** From the bot's first 200 on, the event is on its disk. */
  storedAt: number | null;
  exhausted: boolean;
}

/** `alerts` counts the message's alerts that report the transaction; 0 for a digest. */
export interface Post {
  messageId: string;
  channelId: string;
  at: number;
  alerts: number;
}

/** `at`: when the first alert was made. `hidden`: what hid it, in words. */
export interface Routing {
  at: number | null;
  /** A subscription matched, so an alert is posted. */
  isMatched: boolean;
  hidden: string[];
}

export interface TrackedTransaction {
  /** 0 is the first network. */
  network: number;
  txHash: string;
  /** One sentence; null when the sandbox did not send it. */
  summary: string | null;
  blockNumber: number;
  minedAt: number;
  deliveries: Delivery[];
  routed: Routing | null;
  posted: Post[];
}

export type PageEvent =
  | { type: 'hello'; discord: State; world: WorldState; transactions: TrackedTransaction[] }
  | { type: 'discord'; event: ControlEvent }
  | { type: 'world'; world: WorldState }
  /** New and changed ones, oldest first. */
  | { type: 'transactions'; transactions: TrackedTransaction[] };
