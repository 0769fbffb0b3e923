import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { expect, it } from 'vitest';

/** The worst wordings of comments, log lines, errors, test names and pages, with what to write instead. */
const REFUSED: readonly [pattern: RegExp, instead: string][] = [
  [/\b(told|tells?|telling)\b/i, 'post, send, notify, report or show'],
  [/\b(anew|thereby|shall)\b/i, 'again, so, must'],
  [/\bso (long|many|much) (as|alerts|bytes|milliseconds|requests|times|transfers)\b/i, 'for as long as, this many'],
  [/\b(bury|unbury|thaw|in peace)\b/i, 'the field’s term'],
  [/\b(of which|whoever|at the most)\b/i, 'a sentence of its own, people who, at most'],
  [/\b(mends?|mended)\b/i, 'fix'],
  [/\bany more\b(?! \w)/i, 'no longer'],
  [/\blook-ups?\b/i, 'lookup'],
  [/; (gives|answers) /, 'returns'],
  [/^\s*(\/\/|\/?\*+|--) (Who \w+s|Whom|Nor)\b/, 'subject, verb, object'],
  [/\b(catalogue|colour|behaviour|labelled(?!by)|recognise|neighbour|reorganis)\w*/i, 'US spelling'],
];

/** A line that is a comment (of SQL, too), writes to the log, makes an error, or names a test. */
const READ =
  /^\s*(\/\/|\/\*\*|\*|-- )|\blog\.(debug|info|warn|error)\(|\bnew \w*Error\(|^\s*((it|describe)(\.each\(.*\))?|\]( as const)?\))\(/;

const FOLDERS = ['src', 'commands', 'services', 'sandbox', 'bench', 'test'];

/** Folders whose templates are the text of a page: there every line counts, and backticks hold no code. */
const PAGES = [join('sandbox', 'page', 'client'), join('services', 'explorer')];

/** Its lines that people read, without code in backticks. */
function faultsIn(file: string): string[] {
  const isPage = PAGES.some((folder) => file.startsWith(join(folder, sep)));
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const words = isPage ? line : READ.test(line) ? line.replaceAll(/`[^`]*`/g, '') : '';
      return REFUSED.flatMap(([pattern, instead]) => {
        const found = pattern.exec(words)?.[0];
        return found === undefined ? [] : [`${file}:${index + 1}: “${found}” (write: ${instead})`];
      });
    });
}

it('finds no refused wording in comments, log lines, errors, test names and pages', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(resolve(folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const sources = files.filter((file) => file.endsWith('.ts') && !file.includes('node_modules'));
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.flatMap(faultsIn)).toEqual([]);
});
