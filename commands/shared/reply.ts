import { type APIEmbed, TimestampStyles, time } from 'discord.js';
import { MAX_TITLE, type Reply } from '../../src/discord/command.ts';
import { type ExplorerRoot, linked } from '../../src/discord/render/wording.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { cutTo, inCode, isolate, looksLikeLink, plainText } from '../../src/domain/text.ts';
import { ifRefused, UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';

export const COLORS = { info: 0x4184e4, good: 0x2da44e, warn: 0xd4761d, danger: 0xe5534b };

/** Maximum characters of an embed's description (Discord allows 4,096), without the count of omitted lines. */
export const MAX_REPLY_TEXT = 3_900;

/** Maximum characters of an embed's field (Discord allows 1,024), without the count of omitted lines. */
export const MAX_FIELD_TEXT = 950;

const MAX_INPUT_SHOWN = 100;

/** Maximum characters of a project's or webhook's ID: people copy it, so it is always shown in full. */
export const MAX_ID = 64;

export function embedReply(
  tone: keyof typeof COLORS,
  title: string,
  lines: readonly (string | null)[],
  rest: Pick<Reply, 'components'> & Pick<APIEmbed, 'fields' | 'footer' | 'image'> = {},
): Reply {
  const { components = [], ...embed } = rest;
  const present = lines.filter((line) => line !== null);
  const description = asManyAsFit(present, MAX_REPLY_TEXT);
  const shown = { color: COLORS[tone], title: cutTo(title, MAX_TITLE), ...(description && { description }) };
  return { embeds: [{ ...shown, ...embed }], components };
}

export function asManyAsFit(lines: readonly string[], max = MAX_FIELD_TEXT): string {
  const count = countFitting(lines, max);
  return [...lines.slice(0, count), ...(count < lines.length ? [`… +${lines.length - count}`] : [])].join('\n');
}

/** How many of these fit into `max` characters, each with a separator behind it. */
function countFitting(parts: readonly string[], max: number): number {
  let room = max;
  const end = parts.findIndex(({ length }) => {
    room -= length + 1;
    return room < 0;
  });
  return end === -1 ? parts.length : end;
}

export function firstOf<T>(t: Translate, all: readonly T[], max: number, show: (one: T) => string): string[] {
  const more = all.length > max ? [t('reply.more', { count: all.length - max })] : [];
  return [...all.slice(0, max).map(show), ...more];
}

/** The first of a list below its heading; empty if the list is. */
export function headed<T>(t: Translate, heading: string, all: readonly T[], max: number, show: (one: T) => string) {
  return all.length === 0 ? [] : [heading, ...firstOf(t, all, max, show)];
}

/** One page of a list that is not empty: the requested one, counted from 0, or the nearest existing one. */
export function pageOf<T>(all: readonly T[], perPage: number, wanted: number) {
  const pages = Math.ceil(all.length / perPage);
  const page = Math.min(Math.max(0, Math.trunc(wanted) || 0), pages - 1);
  return { page, pages, shown: all.slice(page * perPage, (page + 1) * perPage) };
}

export const listInCode = (values: readonly string[], t: Translate): string =>
  values.map((value) => `\`${value}\``).join(t('reply.comma'));

export const addressInCode = (address: AddressText): string => `\`${checksumAddress(address)}\``;

export const fullAddress = (
  address: AddressText,
  settings: ExplorerRoot,
  page: 'address' | 'token' = 'address',
): string => linked(address, page, settings);

/** "3 hours ago" or "in 3 hours", in the reader's language and time zone. */
export function relativeTime(milliseconds: number): string {
  return time(Math.floor(milliseconds / 1000), TimestampStyles.RelativeTime);
}

/** "21 November 2026 22:00", in the reader's language and time zone. */
export function absoluteTime(milliseconds: number): string {
  return time(Math.floor(milliseconds / 1000), TimestampStyles.LongDateShortTime);
}

/** In inline code, the only form in which a third party's name is shown. */
export function thirdPartyName(t: Translate, text: string | null | undefined, fallback: string): string {
  return inCode(text, fallback, undefined, t('alert.hiddenName'));
}

/** Text that somebody typed and only they see, in inline code, even if it looks like a link, such as `name.eth`. */
export function quoted(typed: string, fallback = '` `'): string {
  const plain = plainText(typed)?.replaceAll('`', 'ˋ');
  return plain ? isolate(`\`${plain}\``) : fallback;
}

/** Adds the typed text, and the `option` that it is in, unless the message has them already. */
export function withInput({ message, readings }: UserError, typed: string, t: Translate, option?: string): UserError {
  const shown = quoted(typed.slice(0, MAX_INPUT_SHOWN));
  const isPlace = option !== undefined && !message.includes(option);
  const input = isPlace ? t('reply.typedIn', { text: shown, option }) : t('reply.typed', { text: shown });
  const full = message.includes(shown) && !isPlace ? message : `${input} ${message}`;
  return new UserError(full, { readings });
}

export function readTyped<Value>(read: () => Value, typed: string, t: Translate): Value {
  return ifRefused(read, (error) => {
    throw withInput(error, typed, t);
  });
}

/** A third party's text in inline code: each word made harmless, 🔗 for links, at most `max` characters. */
export function thirdPartyText(text: string, max: number): string {
  const all = text.slice(0, 2_000).split(/\s+/u);
  const words = all.flatMap((word) => (looksLikeLink(word) ? '🔗' : (plainText(word) ?? [])));
  const count = countFitting(words, max);
  const shown = [...words.slice(0, count), ...(count < words.length ? ['…'] : [])].join(' ').replaceAll('`', 'ˋ');
  return shown ? isolate(`\`${shown}\``) : '';
}
