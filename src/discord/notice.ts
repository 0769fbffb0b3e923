import { languageOf, translator } from '../languages/index.ts';

/** What a server's admins read elsewhere about a channel in which the bot may not post; `code` is Discord's. */
export function renderParked(
  channelId: string,
  code: number,
  language: string | null,
): { title: string; text: string } {
  const t = translator(languageOf(language));
  return { title: t('notice.parkedTitle'), text: t('notice.parked', { channel: `<#${channelId}>`, code }) };
}
