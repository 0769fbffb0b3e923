import { rows } from '../../commands/shared/components.ts';
import { type Gap, gapsOf, missedButtons, missedLine } from '../../commands/shared/missed.ts';
import type { CommandServices } from '../../commands/shared/services.ts';
import { composeNotice } from '../delivery/compose.ts';
import { noticeBody } from '../discord/render/notice.ts';
import { MINUTE, workEvery } from '../domain/clock.ts';
import { languageOf, translator } from '../languages/index.ts';
import type { Store } from '../store/store.ts';
import type { AppContext } from './context.ts';
import type { Sending } from './sending.ts';

/** Posts once for each cause for which something was missed twice. */
export function watchGaps(
  { clock, log }: Pick<AppContext, 'clock' | 'log'>,
  store: Pick<Store, 'chainChecks' | 'channels' | 'guilds'>,
  services: CommandServices,
  { deliverer }: Pick<Sending, 'deliverer'>,
) {
  async function check(isClosed: () => boolean): Promise<void> {
    // What was found a minute ago is routed by now.
    const until = clock.now() - MINUTE;
    try {
      const since = await store.chainChecks.noticed();
      const guilds = since === null ? [] : await store.chainChecks.missedIn(since);
      for (const guildId of guilds) {
        const count = (gap: Gap, at: number) => [...gap.found.values()].filter((time) => time <= at).length;
        const gaps = await gapsOf(guildId, services);
        const fresh = gaps.filter((gap) => count(gap, until) > 1 && count(gap, since!) < 2);
        if (isClosed()) return;
        if (fresh.length > 0) await post(guildId, fresh);
      }
      if (since === null || guilds.length > 0) await store.chainChecks.setNoticed(until);
    } catch (error) {
      if (!isClosed())
        log.warn({ err: error }, 'looking for the causes of missed transfers failed; trying again in a minute');
    }
  }

  async function post(guildId: string, gaps: readonly Gap[]): Promise<void> {
    const channelId = await store.channels.channelForNotices(guildId, '');
    if (channelId === null) return;
    const t = translator(languageOf(await store.guilds.language(guildId)));
    const isSeveral = services.networks.length > 1;
    const lines = gaps.map((gap) => missedLine(t, gap, isSeveral));
    const components = rows(missedButtons({ ...services, t }, gaps, true));
    const message = composeNotice(clock.now(), (reference) => ({
      ...noticeBody(t('chain.missedTitle'), [...lines, t('chain.missedOnce')].join('\n'), reference),
      ...(components.length > 0 && { components }),
    }));
    await store.channels.postNotice({ guildId, channelId, aboutChannelId: null, ...message });
    deliverer.wake([{ channelId, guildId }]);
  }

  return workEvery(clock, MINUTE, check);
}
