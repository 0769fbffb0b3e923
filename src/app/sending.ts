import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type DelivererOptions, startDeliverer } from '../delivery/deliver.ts';
import { watchSilence } from '../delivery/silence.ts';
import { renderDigest } from '../discord/digest.ts';
import { renderParked, renderSilence } from '../discord/notice.ts';
import { renderAlerts, renderPlain } from '../discord/render.ts';
import type { RenderSettings } from '../discord/render-context.ts';
import { createSender } from '../discord/sender.ts';
import type { Sender } from '../domain/send-outcome.ts';
import { isLinkable } from '../domain/text.ts';
import type { Store } from '../store/store.ts';
import type { AppContext } from './context.ts';
import type { Uptime } from './uptime.ts';

/** How alerts become messages. */
export type Renderers = Pick<DelivererOptions, 'render' | 'renderPlain' | 'renderParked' | 'renderDigest'>;

/** What posts to Discord. */
export type Sending = ReturnType<typeof startSending>;

/** Starts posting what waits in the outbox, and notices about addresses that have gone quiet. */
export function startSending(
  { config, log, clock, now, random, counts, stack }: AppContext,
  { store, uptime, maySend }: { store: Store; uptime: Pick<Uptime, 'since'>; maySend(): boolean },
  given: { sender?: Sender | undefined; renderers?: Partial<Renderers> | undefined },
) {
  const settings = { explorerUrl: linkedExplorer(config, log), nativeSymbol: config.NATIVE_SYMBOL };
  const sender = given.sender ?? createSender({ token: config.DISCORD_TOKEN, apiUrl: config.DISCORD_API_URL, maySend });
  const options = { store, sender, clock, log, random, uptimeSince: uptime.since };
  const onAttempt: DelivererOptions['onAttempt'] = (attempt) => counts.attempted(attempt, now());
  const deliverer = startDeliverer({ ...options, onAttempt, ...rendering(settings), ...given.renderers });
  stack.defer(deliverer.close);
  const silence = watchSilence({ store, clock, log, render: renderSilence, onNotice: deliverer.wake });
  stack.defer(silence.close);
  return { settings, sender, deliverer };
}

function rendering(settings: RenderSettings): Renderers {
  return {
    render: (alerts, reference, now, frozen) => renderAlerts(alerts, reference, settings, now, frozen),
    renderPlain,
    renderParked,
    renderDigest: (alerts, reference, reason, now) => renderDigest(alerts, reference, settings, reason, now),
  };
}

/** The explorer's web root, if Discord accepts links to it. */
function linkedExplorer({ EXPLORER_URL }: Config, log: Logger): string | undefined {
  if (EXPLORER_URL === undefined || isLinkable(EXPLORER_URL)) return EXPLORER_URL;
  log.warn(
    'EXPLORER_URL is not linked: Discord rejects links to a host without a domain; set a URL that users can reach',
  );
  return undefined;
}
