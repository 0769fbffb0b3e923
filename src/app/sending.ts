import type { Logger } from 'pino';
import { startDeliverer } from '../delivery/deliverer.ts';
import { watchSilence } from '../delivery/silence.ts';
import { countFitting, renderAgain, renderAlerts, renderPlain } from '../discord/render/alert.ts';
import { renderDigest } from '../discord/render/digest.ts';
import { renderParked, renderSilence } from '../discord/render/notice.ts';
import type { RenderSettings } from '../discord/render/wording.ts';
import { createSender } from '../discord/sender.ts';
import type { Alert, DigestReason } from '../domain/alert.ts';
import type { Network } from '../domain/network.ts';
import { isLinkable } from '../domain/text.ts';
import type { AppContext, AppOverrides } from './context.ts';
import type { Data } from './data.ts';
import type { Uptime } from './maintenance.ts';

export type Sending = ReturnType<typeof startSending>;

export function startSending(
  { config, log, clock, random, metrics, stack }: AppContext,
  {
    store,
    networks,
    uptime,
    maySend,
  }: Pick<Data, 'store' | 'networks'> & {
    uptime: Pick<Uptime, 'since'>;
    maySend(): boolean;
  },
  given: Pick<AppOverrides, 'sender' | 'renderers'>,
) {
  const rendered = networks.map(({ id, title, nativeSymbol, explorerUrl }) => {
    return [id, { title, nativeSymbol, explorerUrl: linkedExplorer({ explorerUrl }, log) }] as const;
  });
  const [, { explorerUrl, nativeSymbol }] = rendered[0]!;
  const settings = { explorerUrl, nativeSymbol, networks: networks.length > 1 ? new Map(rendered) : undefined };
  const sender = given.sender ?? createSender({ token: config.DISCORD_TOKEN, apiUrl: config.DISCORD_API_URL, maySend });
  const options = { store, sender, clock, log, random, metrics, uptimeSince: uptime.since };
  const deliverer = startDeliverer({ ...options, ...createRenderers(settings), ...given.renderers });
  stack.defer(deliverer.close);
  const silence = watchSilence({ store, clock, log, render: renderSilence, outbox: deliverer });
  stack.defer(silence.close);
  return { settings, sender, deliverer };
}

function linkedExplorer({ explorerUrl }: Pick<Network, 'explorerUrl'>, log: Logger): string | undefined {
  if (explorerUrl === undefined || isLinkable(explorerUrl)) return explorerUrl;
  log.warn(
    'EXPLORER_URL is not linked: Discord rejects links to a host without a domain; set a URL that users can reach',
  );
  return undefined;
}

export function createRenderers(settings: RenderSettings) {
  return {
    render: (alerts: Alert[], reference: string, now: number) => renderAlerts(alerts, reference, settings, now),
    renderAgain: (alerts: Alert[], reference: string, frozen: string) =>
      renderAgain(alerts, reference, settings, frozen),
    countFitting: (alerts: Alert[], frozen: string) => countFitting(alerts, settings, frozen),
    renderPlain,
    renderParked,
    renderDigest: (alerts: Alert[], reference: string, reason: DigestReason, now: number | null) =>
      renderDigest(alerts, reference, settings, reason, now),
  };
}
