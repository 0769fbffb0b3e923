const MAX_GRAPHEMES = 32;
/** Maximum characters of one; a family of four has eleven. */
const MAX_GRAPHEME = 11;
/** Longer texts are cut; the rest is never shown. */
const MAX_READ = 1_000;

/** Created on first use, because that takes 10 ms. */
let graphemes: Intl.Segmenter | undefined;

/**
 * Control, format (bidi, zero-width), private-use and unassigned characters, and invisible blanks, joiners and vowels, but
 * not the joiner within a pictograph such as 👩‍💻.
 */
const INVISIBLE =
  /(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d\p{Extended_Pictographic})[\u034f\u17b4\u17b5\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800\u{e0000}-\u{e0fff}]/gu;

/** Combining marks after the third of a letter. Hundreds of them would smear over the lines around it. */
const FURTHER_MARKS = /(?<=\p{M}{3})\p{M}+/gu;

/** A dot between letters, a scheme, an invite or a mention: anything that readers could mistake for a link. */
const LINK_LIKE =
  /(https?|www|hxxp)[^a-z0-9]|:\/\/|[\p{L}\p{N}][.。．｡․·][\p{L}]{2,}|\/\/|@everyone|@here|t\.me|discord\s*(gg|app)/iu;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Makes third-party text harmless: one line of at most `max` visible graphemes. Null: nothing readable is left. */
export function plainText(text: string | null | undefined, max = MAX_GRAPHEMES): string | null {
  if (!text) return null;
  const visible = text.slice(0, MAX_READ).normalize('NFKC').replace(/\s+/gu, ' ').replace(INVISIBLE, '');
  const clean = visible.replace(FURTHER_MARKS, '').trim();
  // Combining marks alone are invisible.
  if (!/[^\p{M} ]/u.test(clean)) return null;
  if (clean.length <= max && /^[ -~]*$/.test(clean)) return clean;
  const shown: string[] = [];
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(clean)) {
    if (shown.length === max) return `${shown.join('').trimEnd()}…`;
    // A grapheme may be a chain of hundreds of letters.
    shown.push(startOf(segment, MAX_GRAPHEME).replace(/\u200d$/, ''));
  }
  return shown.join('');
}

/** The full-width letters and signs of Japanese and Chinese keyboards as ASCII: `０．５` → `0.5`. */
export function halfWidth(text: string): string {
  return text.replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
}

/** An ENS name, such as `pay.treasury.eth`. `eth` is no top-level domain, so that nothing links it. */
const ENS_NAME = /(?<![^\s(])[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.eth(?![^\s),;])/giu;

/** `isLabel`: an ENS name is none. */
export function looksLikeLink(text: string, isLabel = false): boolean {
  // Some marks are invisible. Between the letters of a host they would hide it from the pattern.
  const seen = text.slice(0, MAX_READ).normalize('NFKC').replace(INVISIBLE, '').replace(/\p{M}/gu, '');
  return LINK_LIKE.test(isLabel ? seen.replace(ENS_NAME, (name) => name.replaceAll('.', ' ')) : seen);
}

/** Capital letters of other scripts (and the tugrik sign in `USD₮`), each above the Latin one that it looks like. */
const OTHERS = 'АВЕЅІЈКМНОРСТУХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ₮';
const LATINS = 'ABESIJKMHOPCTYXQWABEZHIKMNOPTYXT';

/** Accents and invisible characters, except blanks of every kind. */
const UNSEEN = /[\p{M}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800]/gu;

/** Equal for texts that look alike. `blank` replaces each blank. */
export function skeleton(text: string, blank = ''): string {
  const capitals = text.normalize('NFKD').replace(UNSEEN, '').toUpperCase();
  return capitals.replace(/\P{ASCII}/gu, (letter) => LATINS[OTHERS.indexOf(letter)] ?? letter).replace(/\s/gu, blank);
}

const LINKED_HOST = /^(localhost|[\d.]+|([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*)$/;

/** For any other link in an embed or a button Discord refuses the whole message. */
export function isLinkable(url: string): boolean {
  return url.length <= 512 && URL.canParse(url) && LINKED_HOST.test(new URL(url).hostname);
}

/** One fewer where the end would cut a surrogate pair. */
const startOf = (text: string, max: number): string => text.slice(0, max).replace(/[\ud800-\udbff]$/, '');

/** Never cuts a surrogate pair. Closes inline code and what {@link isolate} opens. */
export function cutTo(text: string, max: number): string {
  if (text.length <= max) return text;
  const closing = text.includes('\u2068') ? 2 : 1;
  const short = startOf(text, max - 1 - closing);
  const isIsolated = short.lastIndexOf('\u2068') > short.lastIndexOf('\u2069');
  return `${short}…${short.split('`').length % 2 === 0 ? '`' : ''}${isIsolated ? '\u2069' : ''}`;
}

/** The only form in which third parties' text is shown. `fallback` stands for a missing name. */
export function inCode(
  text: string | null | undefined,
  fallback: string,
  max = MAX_GRAPHEMES,
  hidden = '(name hidden: looks like a link)',
  isLabel = false,
): string {
  if (text && looksLikeLink(text, isLabel)) return `\`${hidden}\``;
  const plain = plainText(text, max)?.replaceAll('`', 'ˋ');
  return plain ? isolate(`\`${plain}\``) : fallback;
}

/** What an address bar would run or open. */
const SCHEME = /\b(data|file|javascript|vbscript):/iu;

/** Characters that are never Markdown, a mention or a link. A number followed by a dot would begin a list. */
const NAME_LIKE =
  /^(?!\d+[.)])[\p{L}\p{N}\p{Extended_Pictographic}$][\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Join_Control} $%&+',;"“”#.!?()’–—…/:-]*$/u;

/** As plain text if nothing in it could be Markdown; for trusted names, such as a cataloged symbol. */
export function asName(
  text: string | null | undefined,
  fallback: string,
  max = MAX_GRAPHEMES,
  hidden?: string,
  isLabel = false,
): string {
  if (text && !looksLikeLink(text, isLabel)) {
    const plain = plainText(text, max);
    if (plain !== null && NAME_LIKE.test(plain) && !SCHEME.test(plain)) return isolate(plain);
  }
  return inCode(text, fallback, max, hidden, isLabel);
}

export const asLabel = (text: string | null | undefined, fallback: string, max: number, hidden?: string): string =>
  asName(text, fallback, max, hidden, true);

/** A symbol with blanks stays in inline code, because it could look like an amount. */
export const asSymbol = (text: string, fallback: string, hidden?: string): string =>
  (/^[\p{L}$][^ ]*$/u.test(text) ? asName : inCode)(text, fallback, undefined, hidden);

/** Brackets and backslashes would end a link's text, even in code. */
export const linkText = (shown: string): string =>
  shown.replace(/[[\]\\]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

/** Isolates a right-to-left name, which would reorder the amounts, addresses and arrows beside it. */
export const isolate = (name: string): string => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

/** Letters to add, remove or replace; infinite when the lengths alone differ by more than `max`. */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
