import type { Logger } from 'pino';
import type { Network } from '../../domain/network.ts';
import { isLinkable } from '../../domain/text.ts';
import { countFitting, renderAgain, renderAlerts, renderPlain } from './alert.ts';
import { renderDigest } from './digest.ts';
import { renderCrossing, renderParked, renderSilence } from './notice.ts';
import { renderStatement, statementCsv } from './statement.ts';
import type { RenderSettings } from './wording.ts';

export function renderSettings(
  networks: readonly Pick<Network, 'id' | 'title' | 'nativeSymbol' | 'explorerUrl'>[],
  log: Logger,
): RenderSettings {
  const rendered = networks.map(({ id, title, nativeSymbol, explorerUrl: url }) => {
    const isLinked = url === undefined || isLinkable(url);
    if (!isLinked)
      log.warn(
        'EXPLORER_URL is not linked: Discord rejects links to a host without a domain; set a URL that users can reach',
      );
    return [id, { title, nativeSymbol, explorerUrl: isLinked ? url : undefined }] as const;
  });
  const [, { explorerUrl, nativeSymbol }] = rendered[0]!;
  return { explorerUrl, nativeSymbol, networks: networks.length > 1 ? new Map(rendered) : undefined };
}

/** The renderers with these settings. */
export const createRenderers = (settings: RenderSettings) => ({
  render: renderAlerts.bind(null, settings),
  renderAgain: renderAgain.bind(null, settings),
  countFitting: countFitting.bind(null, settings),
  renderPlain,
  renderDigest: renderDigest.bind(null, settings),
  renderParked,
  renderSilence,
  renderCrossing: renderCrossing.bind(null, settings),
  renderStatement: renderStatement.bind(null, settings),
  statementCsv: statementCsv.bind(null, settings),
});
