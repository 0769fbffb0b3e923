import type { Logger } from 'pino';
import { noticeBody } from '../../src/discord/render/notice.ts';
import { composeNotice } from '../../src/domain/batch.ts';
import { type Clock, MINUTE, workEvery } from '../../src/domain/clock.ts';
import type { Outbox } from '../../src/domain/sender.ts';
import { languageOf, translator } from '../../src/languages/index.ts';
import { rows } from './components.ts';
import { type Gap, gapsOf, missedButtons, missedLine } from './missed.ts';
import type { CommandServices } from './services.ts';

/** Posts once for each cause for which something was missed twice. */
export function watchGaps(services: CommandServices, outbox: Pick<Outbox, 'wake'>, clock: Clock, log: Logger) {
  const { chainChecks, channels, guilds } = services;

  async function check(isClosed: () => boolean): Promise<void> {
    // Transfers that were found more than a minute ago are routed by now.
    const until = clock.now() - MINUTE;
    try {
      const since = await chainChecks.noticed();
      const concerned = since === null ? [] : await chainChecks.missedIn(since);
      for (const guildId of concerned) {
        const count = (gap: Gap, at: number) => [...gap.found.values()].filter((time) => time <= at).length;
        const gaps = await gapsOf(guildId, services);
        const fresh = gaps.filter((gap) => count(gap, until) > 1 && count(gap, since!) < 2);
        if (isClosed()) return;
        if (fresh.length > 0) await post(guildId, fresh);
      }
      if (since === null || concerned.length > 0) await chainChecks.setNoticed(until);
    } catch (error) {
      if (!isClosed())
        log.warn({ err: error }, 'looking for the causes of missed transfers failed; trying again in a minute');
    }
  }

  async function post(guildId: string, gaps: readonly Gap[]): Promise<void> {
    const channelId = await channels.channelForNotices(guildId, '');
    if (channelId === null) return;
    const t = translator(languageOf(await guilds.language(guildId)));
    const isSeveral = services.networks.length > 1;
    const lines = gaps.map((gap) => missedLine(t, gap, isSeveral));
    const components = rows(missedButtons({ ...services, t }, gaps, true));
    const message = composeNotice(clock.now(), (reference) => ({
      ...noticeBody(t('chain.missedTitle'), [...lines, t('chain.missedOnce')].join('\n'), reference),
      ...(components.length > 0 && { components }),
    }));
    await channels.postNotice({ guildId, channelId, aboutChannelId: null, ...message });
    outbox.wake([{ channelId, guildId }]);
  }

  return workEvery(clock, MINUTE, check);
}
