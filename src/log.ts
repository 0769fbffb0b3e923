import pino, { type Logger } from 'pino';
import { forLog } from './errors.ts';

/** Characters of log lines that wait to be read; further lines are dropped. */
const MAX_WAITING = 4 * 1024 * 1024;
/** How long the end of the process waits until its last lines are read. */
const FLUSH_TIMEOUT_MS = 200;

/** Characters that JSON allows unescaped, but that many programs read as the end of a line. */
const LINE_ENDS: Record<string, string> = { '\u0085': '\\u0085', '\u2028': '\\u2028', '\u2029': '\\u2029' };
const inOneLine = (line: string): string => line.replaceAll(/[\u0085\u2028\u2029]/g, (end) => LINE_ENDS[end]!);

const withoutFields = (error: unknown): unknown => (error instanceof Error ? forLog(error) : error);

/**
 * Opens the log: JSON lines on standard output. Lines that cannot be written (a blocked pipe, a full disk) wait in
 * memory and block nothing, not even the end of the process. With the library alone, the process would never end.
 */
export function openLog(level: string): Logger {
  let until = Number.POSITIVE_INFINITY;
  let failed = false;
  let lost = 0;
  const output = pino.destination({
    fd: process.stdout.fd,
    sync: false,
    maxLength: MAX_WAITING,
    retryEAGAIN: () => performance.now() < until,
  });
  const log = pino({ level, serializers: { err: withoutFields }, hooks: { streamWrite: inOneLine } }, output);
  output.on('error', () => {
    failed = true;
  });
  output.on('write', () => {
    failed = false;
  });
  output.on('drop', () => {
    if (lost++ > 0) return;
    output.once('drain', () => {
      log.warn({ lines: lost }, 'dropped log lines: standard output was blocked');
      lost = 0;
    });
  });
  process.prependListener('exit', () => {
    until = performance.now() + FLUSH_TIMEOUT_MS;
    try {
      if (!failed) output.flushSync();
    } catch {
      // Standard output is closed.
    }
    output.destroy();
  });
  return log;
}
