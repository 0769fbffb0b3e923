import { TimestampStyles, time } from 'discord.js';
import { checksumAddress } from '../domain/address.ts';
import { isFeedSilent, type Silence } from '../domain/silence.ts';
import { inCode } from '../domain/text.ts';
import { languageOf, translator } from '../languages/index.ts';
import { duration } from './warnings.ts';

/** Addresses that are named in one notice. */
const MOST_NAMED = 10;

/** What a guild's admins read elsewhere about a channel in which the bot may not post; `code` is Discord's. */
export function renderParked(
  channelId: string,
  code: number,
  language: string | null,
): { title: string; text: string } {
  const t = translator(languageOf(language));
  return { title: t('notice.parkedTitle'), text: t('notice.parked', { channel: `<#${channelId}>`, code }) };
}

/** What a channel reads about addresses that fell silent; a dead feed and a quiet wallet are told apart. */
export function renderSilence(
  silences: Silence[],
  language: string | null,
  now: number,
): { title: string; text: string } {
  const chosen = languageOf(language);
  const t = translator(chosen);
  const ago = (at: number) => time(Math.floor(at / 1_000), TimestampStyles.RelativeTime);
  const lines = silences.slice(0, MOST_NAMED).map(({ label, address, gapMs, lastEventAt }) => {
    const name = label === null ? '' : `${inCode(label, '')} `;
    const gap = duration(gapMs, { language: chosen });
    return t('silence.address', { name, address: `\`${checksumAddress(address)}\``, gap, ago: ago(lastEventAt) });
  });
  const left = silences.length - lines.length;
  const { feedAt } = silences[0]!;
  const dead = silences.every((silence) => isFeedSilent(silence, now));
  const feed =
    feedAt === null ? t('silence.feedNever') : t(dead ? 'silence.feed' : 'silence.quiet', { ago: ago(feedAt) });
  return {
    title: dead ? t('silence.titleFeed') : t('silence.title', { count: silences.length }),
    text: [...lines, ...(left > 0 ? [t('silence.more', { count: left })] : []), '', feed, t('silence.once')].join('\n'),
  };
}
