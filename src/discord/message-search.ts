import { type REST, Routes, SnowflakeUtil } from 'discord.js';
import { MINUTE } from '../domain/clock.ts';
import type { FindOutcome, Sender, SendOutcome } from '../domain/send-outcome.ts';

/** The times in Discord's IDs are counted from here. */
const DISCORD_EPOCH = Number(SnowflakeUtil.epoch);
/** Messages in a page of a channel's history. */
const PAGE_SIZE = 100;
/** How many pages are read; a message that may be beyond them is unknown. */
const MAX_PAGES = 11;

/** Creates the search for a message by its reference. `attempt`: sends a request and returns its outcome. */
export function createMessageSearch(
  rest: REST,
  attempt: (request: () => Promise<unknown>) => Promise<SendOutcome>,
): Sender['find'] {
  /** Whether a channel whose history is hidden got no message since `after`. */
  async function searchHidden(
    channelId: string,
    after: bigint,
    onRequest: () => void,
  ): Promise<FindOutcome | SendOutcome> {
    onRequest();
    let channel: { last_message_id?: string | null } = {};
    const outcome = await attempt(async () => {
      channel = (await rest.get(Routes.channel(channelId))) as typeof channel;
    });
    if (outcome.status === 'forbidden') return { status: 'unknown' };
    if (outcome.status !== 'sent') return outcome;
    const last = channel.last_message_id;
    return { status: last === null || (last !== undefined && BigInt(last) < after) ? 'absent' : 'unknown' };
  }

  return async function find(channelId, reference, since, onRequest) {
    // A message's ID begins with its time; allows a minute for clocks that disagree.
    const after = BigInt(Math.max(0, since - MINUTE - DISCORD_EPOCH)) << 22n;
    let from: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      let messages: unknown;
      onRequest();
      const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(from === null ? {} : { after: from }) });
      const outcome = await attempt(async () => {
        messages = await rest.get(Routes.channelMessages(channelId), { query });
      });
      if (outcome.status === 'forbidden') return { status: 'unknown' };
      if (outcome.status !== 'sent') return outcome;
      if (!Array.isArray(messages)) return { status: 'unknown' };
      const list = messages as { id: string }[];
      const hit = list.find((message) => JSON.stringify(message, withoutQuotes).includes(reference));
      if (hit) return { status: 'found', messageId: hit.id };
      // Without permission to read the history, Discord returns an empty one.
      if (from === null && list.length === 0) return searchHidden(channelId, after, onRequest);
      const ids = list.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
      // The newest messages reach back far enough, or there are no more.
      if (ids.length < PAGE_SIZE || (from === null && ids[0]! <= after)) return { status: 'absent' };
      from = (from === null ? after : ids.at(-1)!).toString();
    }
    return { status: 'unknown' };
  };
}

/** Ignores content that a reply or a forwarded message quotes. */
const withoutQuotes = (key: string, value: unknown): unknown =>
  key === 'referenced_message' || key === 'message_snapshots' ? undefined : value;
