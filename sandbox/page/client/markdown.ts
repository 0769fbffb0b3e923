/** Parses to data and makes no markup, so hostile text stays text. sandbox/README.md says why no package is used. */

export type Inline =
  | { type: 'text' | 'code' | 'everyone' | 'emoji'; text: string }
  | { type: 'strong' | 'em' | 'u' | 's' | 'spoiler'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'user' | 'role' | 'channel'; id: string }
  | { type: 'command'; name: string }
  | { type: 'time'; at: number; style: string };

export type Block =
  | { type: 'text' | 'subtext'; children: Inline[] }
  | { type: 'heading'; level: 1 | 2 | 3; children: Inline[] }
  | { type: 'quote'; children: Block[] }
  | { type: 'list'; ordered: boolean; items: Inline[][] }
  | { type: 'fence'; text: string };

type Rule = [pattern: RegExp, make: (match: RegExpExecArray) => Inline | null];

const wrap =
  (type: 'strong' | 'em' | 'u' | 's' | 'spoiler') =>
  (match: RegExpExecArray): Inline => ({ type, children: readInline(match[1] ?? match[2] ?? '') });

function link(href: string, children: Inline[]): Inline | null {
  return URL.canParse(href) ? { type: 'link', href, children } : null;
}

/** In the order in which Discord tries them. */
const RULES: Rule[] = [
  [/\\([^0-9A-Za-z\s])/y, (match) => ({ type: 'text', text: match[1]! })],
  [
    /(`+)([\s\S]*?[^`])\1(?!`)/y,
    (match) => ({ type: 'code', text: match[2]!.trim() === '' ? match[2]! : match[2]!.trim() }),
  ],
  [
    /\[((?:[^[\]\\]|\\.)+)\]\(\s*<?(https?:\/\/[^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/y,
    (match) => link(match[2]!, readInline(match[1]!, false)),
  ],
  [/<(https?:\/\/[^\s>]+)>/y, (match) => link(match[1]!, [{ type: 'text', text: match[1]! }])],
  [/https?:\/\/[^\s<]*[^<.,:;"'\])\s]/y, (match) => link(match[0], [{ type: 'text', text: match[0] }])],
  [/\*\*((?:`[^`]*`|[^`])+?)\*\*(?!\*)/y, wrap('strong')],
  [/__([\s\S]+?)__(?!_)/y, wrap('u')],
  [/\*(?=\S)((?:`[^`]*`|[^*`])+?)(?<=\S)\*(?!\*)/y, wrap('em')],
  [/(?<![A-Za-z0-9])_((?:`[^`]*`|[^_`])+?)_(?![A-Za-z0-9])/y, wrap('em')],
  [/~~([\s\S]+?)~~/y, wrap('s')],
  [/\|\|([\s\S]+?)\|\|/y, wrap('spoiler')],
  [/<@!?(\d{1,20})>/y, (match) => ({ type: 'user', id: match[1]! })],
  [/<@&(\d{1,20})>/y, (match) => ({ type: 'role', id: match[1]! })],
  [/<#(\d{1,20})>/y, (match) => ({ type: 'channel', id: match[1]! })],
  [/<\/([^:>\n]{1,100}):\d{1,20}>/y, (match) => ({ type: 'command', name: match[1]! })],
  [/<a?:(\w{2,32}):\d{1,20}>/y, (match) => ({ type: 'emoji', text: `:${match[1]}:` })],
  [
    /<t:(-?\d{1,12})(?::([tTdDfFR]))?>/y,
    (match) => ({ type: 'time', at: Number(match[1]) * 1000, style: match[2] ?? 'f' }),
  ],
  [/@(?:everyone|here)/y, (match) => ({ type: 'everyone', text: match[0] })],
];

/** `links` is false inside a link's own text. */
export function readInline(source: string, links = true): Inline[] {
  const found: Inline[] = [];
  let plain = '';

  function flush(): void {
    if (plain !== '') found.push({ type: 'text', text: plain });
    plain = '';
  }

  for (let at = 0; at < source.length; ) {
    const next = /[\\`[<h*_~|@]/.test(source[at]!) ? readRule(source, at, links) : null;
    if (next === null) {
      plain += source[at];
      at++;
      continue;
    }
    if (next.node.type === 'text') plain += next.node.text;
    else {
      flush();
      found.push(next.node);
    }
    at = next.end;
  }
  flush();
  return found;
}

function readRule(source: string, at: number, links: boolean): { node: Inline; end: number } | null {
  for (const [pattern, make] of RULES) {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    const node = match && make(match);
    if (match && node && (links || node.type !== 'link')) return { node, end: at + match[0].length };
  }
  return null;
}

export function readMarkdown(source: string): Block[] {
  const blocks: Block[] = [];
  const fence = /```(?:[\w+-]+\n)?\n*([\s\S]+?)\n*```/g;
  let at = 0;
  for (const match of source.matchAll(fence)) {
    blocks.push(...readLines(source.slice(at, match.index)), { type: 'fence', text: match[1]! });
    at = match.index + match[0].length;
  }
  blocks.push(...readLines(source.slice(at)));
  return blocks;
}

function readLines(source: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];

  function flush(): void {
    // Subtext ends with its own line, so an empty line below it shows.
    const blank = blocks.at(-1)?.type === 'subtext' ? /\n+$/g : /^\n+|\n+$/g;
    const text = lines.join('\n').replace(blank, '');
    if (text !== '') blocks.push({ type: 'text', children: readInline(text) });
    lines = [];
  }

  const all = source.split('\n');
  for (let at = 0; at < all.length; at++) {
    const line = all[at]!;
    const rest = /^>>> /.test(line);
    const quoted = rest ? all.slice(at) : takeWhile(all, at, /^> /);
    const items = takeWhile(all, at, /^\s*(?:[-*]|\d+\.) /);
    const heading = /^(#{1,3}) +(.+)$/.exec(line);
    const subtext = /^-# +(.+)$/.exec(line);
    if (subtext || heading || quoted.length > 0 || items.length > 0) flush();
    if (subtext) blocks.push({ type: 'subtext', children: readInline(subtext[1]!) });
    else if (heading)
      blocks.push({ type: 'heading', level: heading[1]!.length as 1 | 2 | 3, children: readInline(heading[2]!) });
    else if (quoted.length > 0) {
      const inner = rest ? quoted.join('\n').slice(4) : quoted.map((line) => line.slice(2)).join('\n');
      blocks.push({ type: 'quote', children: readLines(inner) });
      at += quoted.length - 1;
    } else if (items.length > 0) {
      const ordered = /^\s*\d/.test(items[0]!);
      blocks.push({
        type: 'list',
        ordered,
        items: items.map((item) => readInline(item.replace(/^\s*(?:[-*]|\d+\.) /, ''))),
      });
      at += items.length - 1;
    } else lines.push(line);
  }
  flush();
  return blocks;
}

function takeWhile(lines: readonly string[], from: number, pattern: RegExp): string[] {
  let end = from;
  while (end < lines.length && pattern.test(lines[end]!)) end++;
  return lines.slice(from, end);
}
