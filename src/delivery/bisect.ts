import { MAX_ALERTS } from '../domain/batch.ts';

/** How a channel's next message is made while an alert is searched for that Discord refuses or that cannot be rendered. */
export interface Search {
  /** Alerts in it. */
  readonly limit: number;
  /** It holds a single alert, as plain text. */
  readonly plain: boolean;
}

/** No alert is searched for. */
export const NO_SEARCH: Search = { limit: MAX_ALERTS, plain: false };

/** What to try after these alerts failed together: half of them, then one as plain text; null when that was tried. */
export function narrowed({ plain }: Search, alerts: number): Search | null {
  if (alerts > 1) return { limit: Math.min(Math.ceil(alerts / 2), MAX_ALERTS / 2), plain };
  return plain ? null : { limit: 1, plain: true };
}

/** What to try after a message was sent. */
export const widened = ({ limit }: Search): Search => ({ limit: Math.min(MAX_ALERTS, limit * 2), plain: false });
