/** Longest name that is shown, in graphemes. */
const MAX_GRAPHEMES = 32;
/** Characters of a text that are looked at; nothing of the rest is ever shown. */
const MOST_READ = 1_000;

/** Made by the first text that needs it: that takes 10 ms. */
let graphemes: Intl.Segmenter | undefined;

/** Control, format (bidi, zero-width), private-use and unassigned characters, and blanks that look like nothing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800\u{e0000}-\u{e0fff}]/gu;

/** A dot between letters, a scheme, an invite or a mention: what a reader could take for a way out of Discord. */
const LINK_LIKE =
  /(https?|www|hxxp)[^a-z0-9]|:\/\/|[\p{L}\p{N}][.。．｡․·][\p{L}]{2,}|\/\/|@everyone|@here|t\.me|discord\s*(gg|app)/iu;

/** The blocks of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Third-party text made harmless and plain: NFKC, no invisible characters, one line, at most `most` graphemes; null when
 * nothing readable is left. `most` is for names that the guild itself gave.
 */
export function plainText(text: string | null | undefined, most = MAX_GRAPHEMES): string | null {
  if (!text) return null;
  const clean = text.slice(0, MOST_READ).normalize('NFKC').replace(/\s+/gu, ' ').replace(INVISIBLE, '').trim();
  // Marks alone show as nothing.
  if (!/[^\p{M} ]/u.test(clean)) return null;
  if (clean.length <= most && /^[ -~]*$/.test(clean)) return clean;
  const shown: string[] = [];
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(clean)) {
    if (shown.length === most) return `${shown.join('').trimEnd()}…`;
    // A "grapheme" of hundreds of combining marks smears over the lines around it.
    shown.push(segment.length > 8 ? segment.slice(0, 8) : segment);
  }
  return shown.join('');
}

/** Letters, digits and signs as ASCII has them, where a Japanese or Chinese keyboard wrote them wide: `０．５` → `0.5`. */
export function halfWidth(text: string): string {
  return text.replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
}

/** Whether a name could be taken for a link, an invite or a mention. */
export function looksLikeLink(text: string): boolean {
  // Some marks cannot be seen, and between the letters of a host they would hide it from the pattern.
  return LINK_LIKE.test(text.slice(0, MOST_READ).normalize('NFKC').replace(INVISIBLE, '').replace(/\p{M}/gu, ''));
}

/** `localhost`, an IPv4 address, or a name with a domain. */
const LINKED_HOST = /^(localhost|[\d.]+|([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*)$/;

/** Whether Discord takes a link to this page in an embed or a button; with any other it refuses the whole message. */
export function isLinkable(url: string): boolean {
  return url.length <= 512 && URL.canParse(url) && LINKED_HOST.test(new URL(url).hostname);
}

/**
 * A text cut to so many characters: never between the halves of a surrogate pair, and with what stands in inline code
 * or {@link apart} closed.
 */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text;
  const closing = text.includes('\u2068') ? 2 : 1;
  const short = text.slice(0, most - 1 - closing).replace(/[\ud800-\udbff]$/, '');
  const isApart = short.lastIndexOf('\u2068') > short.lastIndexOf('\u2069');
  return `${short}…${short.split('`').length % 2 === 0 ? '`' : ''}${isApart ? '\u2069' : ''}`;
}

/**
 * Text from the chain or from third parties as inline code, the only form in which it is shown; names that look like
 * links become `hidden`, and `fallback` stands for a missing name.
 */
export function inCode(
  text: string | null | undefined,
  fallback: string,
  most = MAX_GRAPHEMES,
  hidden = '(name hidden: looks like a link)',
): string {
  if (text && looksLikeLink(text)) return `\`${hidden}\``;
  const plain = plainText(text, most)?.replaceAll('`', 'ˋ');
  return plain ? apart(`\`${plain}\``) : fallback;
}

/**
 * Letters, digits, blanks and signs that are never Markdown, a mention or a link, wherever in a line they stand. The first
 * one is a letter, a digit or `$`; a number with a dot behind it would begin a list.
 */
const NAME_LIKE = /^(?!\d+[.)])[\p{L}\p{N}$][\p{L}\p{M}\p{N} $%&+',.!?()’–…-]*$/u;

/**
 * A name that may be trusted (a label, a cataloged symbol) as plain text, if it has nothing but letters, digits, blanks
 * and a few signs; in inline code otherwise, like {@link inCode}.
 */
export function asName(
  text: string | null | undefined,
  fallback: string,
  most = MAX_GRAPHEMES,
  hidden?: string,
): string {
  if (text && !looksLikeLink(text)) {
    const plain = plainText(text, most);
    if (plain !== null && NAME_LIKE.test(plain)) return apart(plain);
  }
  return inCode(text, fallback, most, hidden);
}

/** A shown name as the text of a link, in which brackets and backslashes would end it, even in code. */
export const linkText = (shown: string): string =>
  shown.replace(/[[\]\\]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

/**
 * A name among other words: one that is written from right to left stands between U+2068 and U+2069, else it would turn
 * around the amounts, addresses and arrows beside it.
 */
export const apart = (name: string): string => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);
