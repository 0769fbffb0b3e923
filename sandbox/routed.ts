/** Reads the bot's decisions about transactions from its log. */
import { z } from 'zod';

/** The bot's decision about one delivery. */
export interface Routed {
  txHash: string;
  /** When its alerts were stored; null when it led to none. */
  at: number | null;
  /** The reasons that hid it from subscriptions. */
  hidden: string[];
}

/** The line that the bot writes at the level `debug` once a delivery is routed. */
const routedLine = z.object({
  msg: z.literal('routed'),
  time: z.number(),
  tx: z.string(),
  alerts: z.number(),
  hidden: z.record(z.string(), z.number()),
});

/** Returns the decision that a line of the log reports; null for other lines. */
export function routedIn(line: string): Routed | null {
  if (!line.includes('"msg":"routed"')) return null;
  const { tx, alerts, time, hidden } = routedLine.parse(JSON.parse(line));
  return { txHash: tx, at: alerts > 0 ? time : null, hidden: Object.keys(hidden) };
}
