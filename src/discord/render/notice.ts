import { TimestampStyles, time } from 'discord.js';
import { checksumAddress, shortAddress } from '../../domain/address.ts';
import type { Crossing } from '../../domain/balance.ts';
import { isFeedSilent, type Silence } from '../../domain/subscription.ts';
import { BALANCE_DIGITS, rounded } from '../../domain/transfer.ts';
import { translationFor } from '../../languages/index.ts';
import { writeNumber } from '../../languages/languages.ts';
import {
  assetName,
  COIN,
  code,
  duration,
  linked,
  named,
  noticeContext,
  number,
  type RenderSettings,
} from './wording.ts';

const MAX_ADDRESSES = 10;
const COLOR = 0xd4a72c;

/** For the guild's admins, in another channel. `code` is Discord's. */
export function renderParked(channelId: string, code: number, language: string | null, reference: string): object {
  const { t } = translationFor(language);
  return noticeBody(t('notice.parkedTitle'), t('notice.parked', { channel: `<#${channelId}>`, code }), reference);
}

/** Distinguishes a dead feed from a quiet wallet. */
export function renderSilence(silences: Silence[], language: string | null, now: number, reference: string): object {
  const { t, language: chosen } = translationFor(language);
  const ago = (at: number) => time(Math.floor(at / 1_000), TimestampStyles.RelativeTime);
  const lines = silences.slice(0, MAX_ADDRESSES).map(({ label, address, gapMs, lastEventAt }) => {
    const name = label === null ? '' : `**${named(label, { t })}** `;
    const gap = duration(gapMs, { language: chosen });
    return t('silence.address', { name, address: `\`${checksumAddress(address)}\``, gap, ago: ago(lastEventAt) });
  });
  const omitted = silences.length - lines.length;
  const { feedAt } = silences[0]!;
  const dead = silences.every((silence) => isFeedSilent(silence, now));
  const feed =
    feedAt === null ? t('silence.feedNever') : t(dead ? 'silence.feed' : 'silence.quiet', { ago: ago(feedAt) });
  const title = dead ? t('silence.titleFeed') : t('silence.title', { count: silences.length });
  const text = [...lines, ...(omitted > 0 ? [t('silence.more', { count: omitted })] : []), '', feed, t('silence.once')];
  return noticeBody(title, text.join('\n'), reference);
}

export function renderCrossing(
  settings: RenderSettings,
  { watched, isLow, balance, limit, symbol, asset, block }: Crossing,
  network: number,
  language: string | null,
  reference: string,
): object {
  const context = noticeContext(language, settings, network);
  const { t } = context;
  const { label, address, mention } = watched;
  const what = asset === 'native' ? assetName(COIN, context) : code(symbol, t('alert.unnamedToken'), context);
  const written = (amount: string) => `${writeNumber(amount, context.language)} ${what}`;
  const short = rounded(balance, BALANCE_DIGITS);
  // `9,999, below 9,999` would look like an error.
  const amount = written(short === limit ? balance : short);
  const words = { amount, limit: written(limit), block: number(block, context) };
  const name = label === null ? shortAddress(address) : named(label, { t });
  const title = t(isLow ? 'notice.lowTitle' : 'notice.highTitle', { name });
  const text = [
    linked(address, 'address', context),
    t(isLow ? 'notice.low' : 'notice.high', words),
    ...(asset === 'native' ? [] : [`-# ${linked(asset, 'token', context)}`]),
    t('notice.lowOnce'),
  ];
  const body = noticeBody(title, text.join('\n'), reference, settings.networks?.get(network)?.title);
  return isLow && mention !== null
    ? { ...body, content: `${title} <@&${mention}>`, allowed_mentions: { parse: [], roles: [mention] } }
    : body;
}

/** The texts must be safe for Discord. */
export function noticeBody(title: string, text: string, reference: string, network?: string): object {
  const author = network === undefined ? {} : { author: { name: network } };
  const embed = { ...author, title, description: text, color: COLOR, footer: { text: `ref ${reference}-1` } };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}
