import pino, { type Logger } from 'pino';

/** Characters of lines that wait for a reader; with more, the newest are left out. */
const WAITING_MOST = 4 * 1024 * 1024;
/** How long an end waits for a reader. */
const LAST_WORDS_MS = 200;

/** JSON lets these stand as they are, but many a reader of lines takes them for the end of one. */
const LINE_ENDS: Record<string, string> = { '\u0085': '\\u0085', '\u2028': '\\u2028', '\u2029': '\\u2029' };
const inOneLine = (line: string): string => line.replaceAll(/[\u0085\u2028\u2029]/g, (end) => LINE_ENDS[end]!);

/**
 * JSON lines on standard output. What nobody reads, or a full disk does not take, waits and holds nothing up: neither
 * the bot nor its end, for which the library alone would wait for ever.
 */
export function openLog(level: string): Logger {
  let until = Number.POSITIVE_INFINITY;
  let failed = false;
  let lost = 0;
  const output = pino.destination({
    fd: process.stdout.fd,
    sync: false,
    maxLength: WAITING_MOST,
    retryEAGAIN: () => performance.now() < until,
  });
  const log = pino({ level, hooks: { streamWrite: inOneLine } }, output);
  output.on('error', () => {
    failed = true;
  });
  output.on('write', () => {
    failed = false;
  });
  output.on('drop', () => {
    lost++;
  });
  output.on('drain', () => {
    if (lost > 0) log.warn({ lines: lost }, 'lines of the log were left out: nobody took them');
    lost = 0;
  });
  process.prependListener('exit', () => {
    until = performance.now() + LAST_WORDS_MS;
    try {
      if (!failed) output.flushSync();
    } catch {
      // Nobody reads them.
    }
    output.destroy();
  });
  return log;
}
