import type { Logger } from 'pino';
import { composeNotice } from '../domain/batch.ts';
import { type Clock, HOUR, workEvery } from '../domain/clock.ts';
import type { Outbox } from '../domain/sender.ts';
import type { Silence } from '../domain/subscription.ts';
import type { Store } from '../store/store.ts';

export interface SilenceOptions {
  store: Store;
  clock: Clock;
  log: Logger;
  renderSilence(silences: Silence[], language: string | null, now: number, reference: string): object;
  outbox: Outbox;
}

/** The first check is an hour after the start: deliveries that a stopped bot missed are retried by then. */
export function watchSilence({ store, clock, log, renderSilence, outbox }: SilenceOptions) {
  async function check(): Promise<void> {
    const now = clock.now();
    try {
      const byChannel = Map.groupBy(await store.silence.unreported(now), ({ channelId }) => channelId);
      for (const [channelId, silences] of byChannel) {
        const { guildId } = silences[0]!;
        const language = await store.guilds.language(guildId);
        const message = composeNotice(now, (reference) => renderSilence(silences, language, now, reference));
        const ids = silences.map(({ subscription }) => subscription);
        if (await store.silence.report({ guildId, channelId, aboutChannelId: null, ...message }, ids))
          outbox.wake([{ channelId, guildId }]);
      }
    } catch (error) {
      log.warn({ err: error }, 'checking for quiet addresses failed; retrying in an hour');
    }
  }

  return workEvery(clock, HOUR, check);
}
