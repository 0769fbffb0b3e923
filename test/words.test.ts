import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The worst wordings of comments, texts in code, and documentation, with what to write instead. */
const REFUSED: readonly [pattern: RegExp, instead: string][] = [
  [/\b(told|tells?|telling)\b/i, 'post, send, notify, report or show'],
  [/\b(anew|thereby|shall|whilst)\b/i, 'again, so, must, while'],
  [/\bso (long|many|much)\b(?!( \w+){0,2} that\b)/i, 'for as long as, this many'],
  [/\b(bury|unbury|thaw|in peace|rhythms?|dealings|sightings?)\b/i, 'the field’s term'],
  [/\b(of which|whoever|at the most)\b/i, 'a sentence of its own, people who, at most'],
  [/\b(mends?|mended)\b/i, 'fix'],
  [/\bany more\b(?! \w)/i, 'no longer'],
  [/\b(look-up|cool-down|time-out|take-over)s?\b/i, 'one word'],
  [/; (gives|answers) |(^|\. )Gives (how|what|when|where|whether|which|who|why) /, 'returns'],
  [/([,;] |\. |^)else\b/i, 'otherwise'],
  [/(^|\. )(Who \w+s|Whom|Nor)\b(?![^.]*\?)/, 'subject, verb, object'],
  [
    /\b(which is well|all the same|it answers so|does no harm)\b/i,
    'which is expected, anyway, it returns that, is safe',
  ],
  [
    /\bstart cannot help\b|\bnotices? nothing\b|\bin the long run\b/i,
    'a restart cannot fix, are not affected, sustained',
  ],
  [/\b(person|someone|somebody|people) (who|that) runs? (this|the) bot\b/i, 'the bot’s operator'],
  [/\b(catalogue|colour|behaviour|labelled(?!by)|cancelled|travelled|neighbour|favour|honour)\w*/i, 'US spelling'],
  [/\b(recogni|(re)?organi|initiali|synchroni|normali|authori|summari)s(e|ed|es|ing|ation)s?\b/i, 'US spelling'],
  [/\b(grey|centre|licence|programme|learnt|spelt|amongst|defence|judgement)s?\b/i, 'US spelling'],
];

/** Files that hold refused wordings as data. */
const DATA = ['test/words.test.ts', 'test/languages/plain.test.ts'];

/** A text that people may read, and the line on which it begins. */
interface Text {
  line: number;
  text: string;
}

/** The next comment, string, regular expression or bracket. Neighboring lines with `//` are one comment. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|(?:^ *\/\/.*\n?)+|\/\/.*|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"|(?<=(?:[(,=:[!&|?{};\n>]|\breturn|^)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|[`{}]/gm;

/** Text of a template, up to its end or to its next `${`. */
const PIECE = /((?:\\[\s\S]|(?!\$\{)[^`\\])*)(`|\$\{)/y;

/** SQL, of which people read only the comments. */
const SQL = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA|--) |\b(FROM|SET|VALUES) /m;

/** The comments, strings and templates of a TypeScript file; `…` stands for a template's `${…}`. */
function textsInCode(source: string): Text[] {
  const texts: Text[] = [];
  /** The brackets that are open: of code, or of a template's `${` with its text so far. */
  const open: (Text | null)[] = [];
  const token = new RegExp(TOKEN);
  const note = ({ line, text }: Text): void => {
    // One word is a name.
    if (/\S\s+\S/.test(text)) texts.push({ line, text: text.replaceAll('\\`', '`').replaceAll('\\n', '\n') });
  };
  const noteString = ({ line, text }: Text): void =>
    note({ line, text: SQL.test(text) ? [...text.matchAll(/-- .*/g)].join('\n') : text });
  const readTemplate = ({ line, text }: Text): void => {
    PIECE.lastIndex = token.lastIndex;
    const [, piece = '', closing] = PIECE.exec(source)!;
    token.lastIndex = PIECE.lastIndex;
    if (closing === '`') noteString({ line, text: text + piece });
    else open.push({ line, text: `${text}${piece}…` });
  };
  let line = 1;
  let counted = 0;
  for (let found = token.exec(source); found; found = token.exec(source)) {
    const [text] = found;
    line += source.slice(counted, found.index).split('\n').length - 1;
    counted = found.index;
    if (text === '{') open.push(null);
    else if (text === '`') readTemplate({ line, text: '' });
    else if (text === '}') {
      const template = open.pop();
      if (template) readTemplate(template);
    } else if (/^['"]/.test(text)) noteString({ line, text: text.slice(1, -1) });
    else if (/^\s*\/[/*]/.test(text)) note({ line, text: text.replaceAll(/^\s*(\/\/|\/?\*+\/?)|\*\/$/gm, '') });
  }
  return texts;
}

/** Parts of a text between separators. */
function split(source: string, separator: RegExp): Text[] {
  let line = 1;
  return source.split(new RegExp(`(${separator.source})`)).map((text) => {
    const start = line + /^\n*/.exec(text)![0].length;
    line += text.split('\n').length - 1;
    return { line: start, text };
  });
}

/** The paragraphs, list items and table cells of a Markdown page, without blocks of code and the targets of links. */
function textsInMarkdown(source: string): Text[] {
  const prose = source
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/\]\([^)]*\)/g, ']');
  return split(prose, /\n\s*\n|\n(?= *(?:[-#|>]|\d+\.) )|\|/);
}

/** The comments of a file in which they begin with `#`. */
const textsInSettings = (source: string): Text[] =>
  split(source.replaceAll(/^(?! *#).*$/gm, '').replaceAll(/^ *#/gm, ''), /\n\s*\n/);

function readerOf(file: string): ((source: string) => Text[]) | null {
  if (DATA.includes(file)) return null;
  if (/\.[jt]s$/.test(file)) return textsInCode;
  if (file.endsWith('.md')) return textsInMarkdown;
  return /\.ya?ml$|\.env\.example$|Dockerfile$/.test(file) ? textsInSettings : null;
}

/** The refused wordings of a file, outside code in backticks. */
function faultsIn(file: string, source: string): string[] {
  return (readerOf(file)?.(source) ?? []).flatMap(({ line, text }) => {
    const words = text
      .replaceAll(/`[^`]*`/g, '`')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return REFUSED.flatMap(([pattern, instead]) => {
      const found = pattern.exec(words)?.[0];
      return found === undefined ? [] : [`${file}:${line}: “${found.trim()}” (write: ${instead})`];
    });
  });
}

it('finds no refused wording in comments, texts in code, settings and documentation', () => {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
  const read = files.filter((file) => readerOf(file) && existsSync(file));
  expect(read.length).toBeGreaterThan(500);
  expect(read.flatMap((file) => faultsIn(file, readFileSync(file, 'utf8')))).toEqual([]);
});

it.each([
  { where: 'a comment', file: 'a.ts', source: 'x();\n// This is\n// told to the bot.', line: 2 },
  {
    where: 'the second line of a docstring',
    file: 'a.ts',
    source: '/**\n * Sends it so\n * many times.\n */',
    line: 1,
  },
  { where: 'a string on a line of its own', file: 'a.ts', source: "log.warn(\n  'nobody was told',\n);", line: 2 },
  { where: 'a template after a value', file: 'a.ts', source: `\`\${f({ a: \`x\` })} was told\``, line: 1 },
  { where: 'a template within a template', file: 'a.ts', source: `\`\${f(\`it was told\`)} is read\``, line: 1 },
  { where: 'a string after a regular expression', file: 'a.ts', source: "f(/[/'\"`]/, 'it was told');", line: 1 },
  { where: 'a comment of SQL', file: 'a.ts', source: '`\n-- It is told.\nPRAGMA told = told`', line: 1 },
  { where: 'a paragraph', file: 'a.md', source: '# A\n\nThe bot\ntells it.', line: 3 },
  { where: 'a cell of a table', file: 'a.md', source: '| a | b |\n|---|---|\n| c | it tells |', line: 3 },
  { where: 'a comment of .env.example', file: '.env.example', source: 'A=1\n# It is\n# told.\nB=', line: 2 },
])('refuses a wording in $where', ({ file, source, line }) => {
  expect(faultsIn(file, source).map((fault) => fault.split(': “')[0])).toEqual([`${file}:${line}`]);
});

it.each([
  { where: 'a name', file: 'a.ts', source: "const told = tell('told', { shall });" },
  { where: 'the value of a template', file: 'a.ts', source: `\`a \${told + shall} b\`` },
  { where: 'a regular expression', file: 'a.ts', source: 'f(/it was told/);' },
  { where: 'SQL', file: 'a.ts', source: '`PRAGMA told = shall`' },
  { where: 'code in backticks', file: 'a.ts', source: '// It reads `told`.' },
  { where: 'a block of code', file: 'a.md', source: 'An example:\n\n```sh\ntell it # told\n```\n\nEnd.' },
  { where: 'the target of a link', file: 'a.md', source: 'See [it](what/tells/it.md).' },
])('accepts a wording in $where', ({ file, source }) => {
  expect(faultsIn(file, source)).toEqual([]);
});

/** A constant with a number that is a limit under another name than `MAX_…` or `MIN_…`. */
const LIMIT_NAME =
  /^(?:export )?const (?!M(?:AX|IN)_)((?:LONGEST|SHORTEST|LARGEST|SMALLEST|HIGHEST|LOWEST|MOST|LEAST)\w*|(?:\w+_)?(?:LIMIT|SHOWN|KEPT|AT_ONCE))(?:: number)? = [-\w.*+/() ]+;/gm;
/** The same, shown by its docstring. */
const LIMIT_DOCSTRING =
  /^\/\*\* (?:Maximum|Most|At most|How many [^.:]* at (?:once|the same time)\.).*(?:\n \*.*)*\n(?:export )?const (?!M(?:AX|IN)_)(\w+)(?:: number)? = [-\w.*+/() ]+;/gm;
const misnamedLimits = (source: string): string[] =>
  [LIMIT_NAME, LIMIT_DOCSTRING].flatMap((pattern) => [...source.matchAll(pattern)].map(([, name]) => name!));

it('spells limits MAX_… and MIN_…', () => {
  const folders = ['src', 'commands', 'services', 'sandbox', 'bench'];
  const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' });
  const sources = files.split('\n').filter((file) => file.endsWith('.ts') && existsSync(file));
  expect(sources.length).toBeGreaterThan(300);
  const others = sources.flatMap((file) =>
    misnamedLimits(readFileSync(file, 'utf8')).map((name) => `${file}: ${name}`),
  );
  expect(others).toEqual([]);
});

it.each([
  { line: 'const LONGEST_NAME = 60;', name: 'LONGEST_NAME' },
  { line: 'export const AT_ONCE = 2 * MIB;', name: 'AT_ONCE' },
  { line: 'const LINES_KEPT: number = 1_000;', name: 'LINES_KEPT' },
  { line: '/** Maximum size of a file. */\nconst FILE_BYTES = 5;', name: 'FILE_BYTES' },
  { line: '/** How many are read at once. */\nexport const PARALLEL = 5;', name: 'PARALLEL' },
])('refuses the limit $name', ({ line, name }) => {
  expect(misnamedLimits(line)).toEqual([name]);
});
