import type { Logger } from 'pino';
import { type Clock, HOUR, repeat } from '../domain/clock.ts';
import type { Outbox } from '../domain/sender.ts';
import type { Silence } from '../domain/silence.ts';
import type { Store } from '../store/store.ts';
import { newReference, nonceOf } from './compose.ts';

export interface SilenceOptions {
  store: Store;
  clock: Clock;
  log: Logger;
  render(silences: Silence[], language: string | null, now: number, reference: string): object;
  outbox: Pick<Outbox, 'wake'>;
}

/** The first check is an hour after the start: deliveries that a stopped bot missed are retried by then. */
export function watchSilence({ store, clock, log, render, outbox }: SilenceOptions) {
  let running = Promise.resolve();

  async function check(): Promise<void> {
    const now = clock.now();
    try {
      const byChannel = Map.groupBy(await store.silence.unreported(now), ({ channelId }) => channelId);
      for (const [channelId, silences] of byChannel) {
        const { guildId } = silences[0]!;
        const language = await store.guilds.language(guildId);
        const reference = newReference();
        const payload = JSON.stringify(render(silences, language, now, reference));
        const message = { reference, nonce: nonceOf(reference, now), payload, aboutChannelId: null };
        const notice = { guildId, channelId, now, ...message };
        const ids = silences.map(({ subscription }) => subscription);
        if (await store.silence.report(notice, ids)) outbox.wake([{ channelId, guildId }]);
      }
    } catch (error) {
      log.warn({ err: error }, 'checking for quiet addresses failed; retrying in an hour');
    }
  }

  const stop = repeat(clock, HOUR, () => {
    running = check();
    return running;
  });

  return {
    async close(): Promise<void> {
      stop();
      await running;
    },
  };
}
