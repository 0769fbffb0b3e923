import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import type { ExplorerRoot } from '../domain/explorer.ts';
import { type Language, languageOf, type Translate, translator } from '../languages/index.ts';

/** The settings that rendering depends on: the explorer and the native coin's symbol, where known. */
export interface RenderSettings extends ExplorerRoot {
  nativeSymbol: string | undefined;
}

/** How one guild's messages are rendered: in which language, and with which names and links. */
export interface RenderContext extends RenderSettings {
  t: Translate;
  language: Language;
  /** Tokens that the explorer's catalog lists: their names may be trusted. */
  cataloged: ReadonlySet<AddressText>;
  /** Addresses are not linked. */
  unlinked?: boolean;
  /** Labels are shortened, so that no alert has to be dropped. */
  hasShortNames?: boolean;
  /** Other tokens' names link to their contracts. */
  linksTokens?: boolean;
}

/** The context in which a guild's alerts (at least one) are rendered. */
export function renderContext(alerts: readonly Alert[], settings: RenderSettings): RenderContext {
  const language = languageOf(alerts[0]!.language);
  const cataloged = new Set(alerts.flatMap(({ isCataloged, transfer }) => (isCataloged && transfer.token) || []));
  return { ...settings, language, t: translator(language), cataloged };
}
