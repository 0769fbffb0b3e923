import { REST, Routes } from 'discord.js';
import type { Sender, SendOutcome } from '../domain/send-outcome.ts';
import { createMessageSearch } from './message-search.ts';
import { classify, readWhole } from './outcome.ts';

/** Sends each request to Discord's REST API once. Never retries and never waits; the deliverer does. */
export function createSender({
  token,
  apiUrl,
  timeoutMs = 15_000,
  maySend = () => true,
}: {
  token: string;
  apiUrl: string;
  timeoutMs?: number;
  /** Whether a request may still be sent, right before it is; a process may have slept since it was decided. */
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

  async function attempt(request: () => Promise<unknown>, isChange = false): Promise<SendOutcome> {
    try {
      const message = (await request()) as { id?: unknown } | undefined;
      return { status: 'sent', messageId: typeof message?.id === 'string' ? message.id : null };
    } catch (error) {
      const outcome = classify(error, isChange);
      // The library drops a token after one refusal.
      if (outcome.status === 'unauthorized') rest.setToken(token);
      return outcome;
    }
  }

  return {
    create: (channelId: string, payload: object, nonce: string, csv: string | null = null) =>
      attempt(() =>
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    edit: (channelId: string, messageId: string, payload: object, csv: string | null = null) =>
      attempt(() => {
        const route = Routes.channelMessage(channelId, messageId);
        if (csv === null) return rest.patch(route, { body: payload });
        // Discord keeps only the files, old and new, that are listed.
        return rest.patch(route, { body: { ...payload, attachments: [{ id: '0' }] }, files: [fileOf(csv)] });
      }, true),

    async isMember(guildId: string): Promise<boolean | null> {
      const { status } = await attempt(() => rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    find: createMessageSearch(rest, attempt),
  };
}

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });
