import { z } from 'zod';
import type { HiddenReason } from '../src/domain/match.ts';

export interface Routed {
  txHash: string;
  /** When the alerts were stored; null without any. */
  at: number | null;
  hidden: string[];
}

/** The bot logs it at the level `debug` once a delivery is routed. */
const routedLine = z.object({
  msg: z.literal('routed'),
  time: z.number(),
  tx: z.string(),
  alerts: z.number(),
  hidden: z.record(z.string(), z.number()),
});

/** In the words of `/activity`. */
const HIDDEN: Record<HiddenReason, string> = {
  paused: 'paused',
  muted: 'muted',
  'token-muted': 'token muted',
  direction: 'other direction',
  kind: 'other kind',
  token: 'other token',
  minimum: 'below the minimum',
  'minimum-usd': 'worth less than the minimum',
  internal: 'internal transfer',
  zero: 'zero amount',
  self: 'self-transfer',
  cataloged: 'not in the catalog',
  'denied-token': 'excluded token',
  'token-list': 'token not on the list',
  counterparty: 'counterparty not on the list',
  'denied-counterparty': 'excluded counterparty',
  guard: 'spam',
};
const wordsOf = (reason: string): string => HIDDEN[reason as HiddenReason];

/** Counts the transfers that a log line reports as found on the chain, or as missing there. */
export function comparedIn(line: string): { found: number; marked: number } {
  const count = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
  return {
    found: count(/"found":(\d+),"msg":"found transfers on the chain/),
    marked: count(/"transfers":(\d+),"msg":"the chain does not have transfers/),
  };
}

export function routedIn(line: string): Routed | null {
  if (!line.includes('"msg":"routed"')) return null;
  const { tx, alerts, time, hidden } = routedLine.parse(JSON.parse(line));
  return { txHash: tx, at: alerts > 0 ? time : null, hidden: Object.keys(hidden).map(wordsOf) };
}
