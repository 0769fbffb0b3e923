import { TimestampStyles, time } from 'discord.js';
import { isFeedSilent, type Silence } from '../domain/silence.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import { languageOf, translator } from '../languages/index.ts';
import { duration, named } from './wording.ts';

/** Maximum number of addresses in one notice. */
const MAX_ADDRESSES = 10;
const COLOR = 0xd4a72c;

/**
 * Renders the notice about a channel that the bot cannot write to, which the guild's admins get in another channel.
 * `code` is Discord's.
 */
export function renderParked(channelId: string, code: number, language: string | null, reference: string): object {
  const t = translator(languageOf(language));
  return noticeBody(t('notice.parkedTitle'), t('notice.parked', { channel: `<#${channelId}>`, code }), reference);
}

/** Renders the notice about addresses that went quiet. It distinguishes a dead feed from a quiet wallet. */
export function renderSilence(silences: Silence[], language: string | null, now: number, reference: string): object {
  const chosen = languageOf(language);
  const t = translator(chosen);
  const ago = (at: number) => time(Math.floor(at / 1_000), TimestampStyles.RelativeTime);
  const lines = silences.slice(0, MAX_ADDRESSES).map(({ label, address, gapMs, lastEventAt }) => {
    const name = label === null ? '' : `**${named(label, { t })}** `;
    const gap = duration(gapMs, { language: chosen });
    return t('silence.address', { name, address: `\`${checksumAddress(address)}\``, gap, ago: ago(lastEventAt) });
  });
  const left = silences.length - lines.length;
  const { feedAt } = silences[0]!;
  const dead = silences.every((silence) => isFeedSilent(silence, now));
  const feed =
    feedAt === null ? t('silence.feedNever') : t(dead ? 'silence.feed' : 'silence.quiet', { ago: ago(feedAt) });
  const title = dead ? t('silence.titleFeed') : t('silence.title', { count: silences.length });
  const text = [...lines, ...(left > 0 ? [t('silence.more', { count: left })] : []), '', feed, t('silence.once')];
  return noticeBody(title, text.join('\n'), reference);
}

/** The body of a notice. Its texts must be safe for Discord. */
function noticeBody(title: string, text: string, reference: string): object {
  const embed = { title, description: text, color: COLOR, footer: { text: `ref ${reference}-1` } };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}
