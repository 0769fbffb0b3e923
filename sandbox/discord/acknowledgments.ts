/** Whether the bot may still respond to an interaction: Discord's deadlines and tokens. */
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Entries, Entry } from './entries.ts';
import { errors } from './errors.ts';

/** How long an interaction waits for its first response. */
export const ACK_MS = 3 * SECOND;
/** How long an interaction's token is valid. */
const TOKEN_MS = 15 * MINUTE;

/** Creates the checks of whether the bot may still respond, and records that it did. */
export function createAcknowledgments(entries: Entries, clock: Clock) {
  return {
    /** Returns the interaction that waits for its first response. @throws Discord's error when there is none. */
    waiting(id: string, token: string): Entry {
      const entry = entries.get(id);
      const late = entry && clock.now() - entry.at > ACK_MS && entry.status !== 'acknowledged';
      if (!entry || entry.token !== token || late || entry.status === 'failed') throw errors.unknownInteraction();
      if (entry.status === 'acknowledged') throw errors.alreadyAcknowledged();
      return entry;
    },

    /** Returns the interaction of a token that is still valid for followups. @throws Discord's error when there is none. */
    alive(token: string): Entry {
      const entry = entries.ofToken(token);
      if (!entry || clock.now() - entry.at >= TOKEN_MS) throw errors.invalidWebhookToken();
      if (entry.status !== 'acknowledged') throw errors.unknownWebhook();
      return entry;
    },

    /** Records the bot's response. */
    acknowledge(entry: Entry, responseType: number): void {
      entry.stopDeadline();
      entry.status = 'acknowledged';
      entry.responseType = responseType;
      entry.ackMs = clock.now() - entry.at;
    },
  };
}
