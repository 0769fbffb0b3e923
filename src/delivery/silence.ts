import type { Logger } from 'pino';
import { type Clock, HOUR } from '../domain/clock.ts';
import type { Silence } from '../domain/silence.ts';
import type { Store } from '../store/store.ts';

/** What the watch needs. `render` puts all silences of one channel into words. */
export interface SilenceOptions {
  store: Store;
  clock: Clock;
  log: Logger;
  render(silences: Silence[], language: string | null, now: number): { title: string; text: string };
  /** These channels have something to send. */
  onNotice(channelIds: string[]): void;
}

/**
 * Looks once an hour for addresses that fell silent, and tells each silence once in the channels that asked for it. The
 * first look comes after an hour: what a bot that was down has missed comes again by then.
 */
export function watchSilence({ store, clock, log, render, onNotice }: SilenceOptions) {
  let running: Promise<void> | null = null;

  async function tell(): Promise<void> {
    const now = clock.now();
    try {
      await store.rhythms.count();
      const byChannel = Map.groupBy(await store.silence.unreported(now), ({ channelId }) => channelId);
      for (const [channelId, silences] of byChannel) {
        const { guildId } = silences[0]!;
        const language = await store.guilds.language(guildId);
        const notice = { guildId, channelId, now, ...render(silences, language, now) };
        const ids = silences.map(({ subscription }) => subscription);
        if (await store.silence.report(notice, ids)) onNotice([channelId]);
      }
    } catch (error) {
      log.warn({ err: error }, 'looking for silence failed; the next try is in an hour');
    }
  }

  const look = () => {
    cancel = clock.after(HOUR, look);
    running ??= tell().finally(() => {
      running = null;
    });
  };
  let cancel = clock.after(HOUR, look);

  return {
    /** Settles once no look is under way. */
    async idle(): Promise<void> {
      await running;
    },
    async close(): Promise<void> {
      cancel();
      await running;
    },
  };
}
