/** Maximum number of characters of a field: an event's are never longer. */
const MAX_FIELD = 10_000;

const [SPACE, TAB, LINE, RETURN, QUOTE, BACKSLASH, COMMA, COLON] = [32, 9, 10, 13, 34, 92, 44, 58];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [91, 93, 123, 125];

/** A field is too large. */
export class LargeFieldError extends Error {
  override readonly name = 'LargeFieldError';
}

/**
 * Reads the named fields of a JSON object and skips everything else, in one pass and without allocating for what it
 * skips: a body of a megabyte must not block the event loop. Numbers are returned as their source texts, objects and
 * lists as null. Throws a SyntaxError when the text is not an object, and a {@link LargeFieldError}.
 */
export function readFields(text: string, names: ReadonlySet<string>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN) throw new SyntaxError('no object');
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) !== CLOSE) {
    for (;;) {
      const nameEnd = skipString(text, at);
      const name = nameOf(text, at, nameEnd);
      at = skipSpace(text, nameEnd);
      if (text.charCodeAt(at) !== COLON) throw new SyntaxError('no colon');
      at = skipSpace(text, at + 1);
      const end = skipValue(text, at);
      if (names.has(name)) fields[name] = readValue(text, at, end, name);
      at = skipSpace(text, end);
      if (text.charCodeAt(at) !== COMMA) break;
      at = skipSpace(text, at + 1);
    }
    if (text.charCodeAt(at) !== CLOSE) throw new SyntaxError('no end');
  }
  if (skipSpace(text, at + 1) !== text.length) throw new SyntaxError('more than one value');
  return fields;
}

/** Decodes only names with escapes, because there may be a hundred thousand names. */
function nameOf(text: string, from: number, end: number): string {
  if (end - from > MAX_FIELD) return '';
  const name = text.slice(from + 1, end - 1);
  return name.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : name;
}

function readValue(text: string, from: number, end: number, name: string): unknown {
  const first = text.charCodeAt(from);
  if (first === OPEN || first === OPEN_LIST) return null;
  if (end - from > MAX_FIELD) throw new LargeFieldError(name);
  const source = text.slice(from, end);
  const value: unknown = JSON.parse(source);
  return typeof value === 'number' ? source : value;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== TAB && code !== LINE && code !== RETURN) return at;
    at++;
  }
}

/** Returns the index after a string. */
function skipString(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) throw new SyntaxError('no string');
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  throw new SyntaxError('no end of a string');
}

/** Returns the index after a value; the content of objects and lists is not checked. */
function skipValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  if (first === OPEN || first === OPEN_LIST) return skipNested(text, from);
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE || code <= SPACE) break;
  }
  if (at === from) throw new SyntaxError('no value');
  return at;
}

function skipNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === OPEN || code === OPEN_LIST) depth++;
    else if ((code === CLOSE || code === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  throw new SyntaxError('no end of a value');
}
