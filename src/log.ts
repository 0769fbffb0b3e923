import pino, { type Logger } from 'pino';

/** Characters of log lines that wait to be read; while so many do, new lines are left out. */
const WAITING_MOST = 4 * 1024 * 1024;
/** How long the process waits at its end for somebody to read its last lines. */
const LAST_WORDS_MS = 200;

/** Characters that may stand in JSON as they are, but that many programs take for the end of a line. */
const LINE_ENDS: Record<string, string> = { '\u0085': '\\u0085', '\u2028': '\\u2028', '\u2029': '\\u2029' };
const inOneLine = (line: string): string => line.replaceAll(/[\u0085\u2028\u2029]/g, (end) => LINE_ENDS[end]!);

/**
 * Opens the log: JSON lines on standard output. Lines that nobody reads, or that a full disk does not take, wait in
 * memory and hold nothing up, not even the end of the process, which the library alone would put off for ever.
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
    if (lost > 0) log.warn({ lines: lost }, 'dropped log lines: standard output was blocked');
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
