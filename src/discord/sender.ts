import { REST, Routes } from 'discord.js';
import type { Sender, SendOutcome } from '../domain/send-outcome.ts';
import { createMessageSearch } from './message-search.ts';
import { classify, readWhole } from './outcome.ts';

/** Creates the sender, which sends each request to Discord's REST API once. Retrying and waiting is up to the deliverer. */
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
    create: (channelId, payload, nonce, csv = null) =>
      attempt(() =>
        rest.post(Routes.channelMessages(channelId), {
          body: { ...payload, nonce, enforce_nonce: true },
          ...(csv === null ? {} : { files: [fileOf(csv)] }),
        }),
      ),

    edit: (channelId, messageId, payload, csv = null) =>
      attempt(() => {
        const route = Routes.channelMessage(channelId, messageId);
        if (csv === null) return rest.patch(route, { body: payload });
        // Discord keeps only the files, old and new, that are listed.
        return rest.patch(route, { body: { ...payload, attachments: [{ id: '0' }] }, files: [fileOf(csv)] });
      }, true),

    async isMember(guildId) {
      const { status } = await attempt(() => rest.get(Routes.guild(guildId)));
      return status === 'sent' ? true : status === 'gone' || status === 'forbidden' ? false : null;
    },

    find: createMessageSearch(rest, attempt),
  };
}

const fileOf = (csv: string) => ({ name: 'transfers.csv', contentType: 'text/csv', data: Buffer.from(csv) });
