import { REST, Routes, SnowflakeUtil } from 'discord.js';
import { MINUTE } from '../domain/clock.ts';
import type { Sender, SendOutcome } from '../domain/sender.ts';
import { classify, readWhole } from './outcome.ts';

/** Sends each request once: retrying and waiting is up to the deliverer. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
  maySend = () => true,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
  /** Checked right before each request: while the process slept, another one may have begun to send. */
  maySend?(): boolean;
}): Sender {
  const rest = new REST({
    version: '10',
    api: apiUrl,
    retries: 0,
    rejectOnRateLimit: () => true,
    timeout: timeoutMs,
    offset: 20,
    globalRequestsPerSecond: 1_000,
    async makeRequest(...request) {
      if (!maySend()) throw new Error('Another process sends now.');
      return readWhole(...request);
    },
  }).setToken(token);

  async function attempt(request: Promise<unknown>, isChange = false): Promise<SendOutcome> {
    try {
      const message = (await request) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error, isChange);
      // The library drops a token after one refusal.
      if (outcome.status === 'unauthorized') rest.setToken(token);
      return outcome;
    }
  }

  return {
    create: (channelId, payload, nonce, csv = null) =>
      attempt(
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    edit(channelId, messageId, payload, csv = null) {
      const route = Routes.channelMessage(channelId, messageId);
      if (csv === null) return attempt(rest.patch(route, { body: payload }), true);
      // Discord keeps only the files, old and new, that are listed.
      const body = { ...payload, attachments: [{ id: '0' }] };
      return attempt(rest.patch(route, { body, files: [fileOf(csv)] }), true);
    },

    async isMember(guildId) {
      const { status } = await attempt(rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    find: createMessageSearch(rest, attempt),
  };
}

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });

const DISCORD_EPOCH = Number(SnowflakeUtil.epoch);
const PAGE_SIZE = 100;
/** A message that may be beyond these pages is unknown. */
const MAX_PAGES = 11;

function createMessageSearch(rest: REST, attempt: (request: Promise<unknown>) => Promise<SendOutcome>): Sender['find'] {
  return async function find(channelId, reference, since, countRequest) {
    // A message's ID begins with its time; allows a minute for clocks that disagree.
    const after = BigInt(Math.max(0, since - MINUTE - DISCORD_EPOCH)) << 22n;
    let from: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      countRequest();
      const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(from === null ? {} : { after: from }) });
      const response = rest.get(Routes.channelMessages(channelId), { query });
      const outcome = await attempt(response);
      if (outcome.status === 'forbidden') return { status: 'unknown' };
      if (outcome.status !== 'sent') return outcome;
      const messages = await response.catch(() => null);
      if (!Array.isArray(messages)) return { status: 'unknown' };
      const list = messages as { id: string }[];
      const hit = list.find((message) => JSON.stringify(message, withoutQuotes).includes(reference));
      if (hit) return { status: 'found', messageId: hit.id };
      // Without permission to read the history, Discord returns an empty one.
      if (from === null && list.length === 0) return { status: 'unknown' };
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
