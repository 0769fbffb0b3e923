/** Preloaded into the bot's process: stops it when the sandbox is gone, which closes this end of the pipe. */
import { isMainThread } from 'node:worker_threads';

const stop = (): void => void process.kill(process.pid, 'SIGTERM');
// Worker threads preload this, too. Their standard input is already at its end.
if (isMainThread) {
  process.stdin.once('end', stop).once('error', stop).resume();
  (process.stdin as { unref?: () => void }).unref?.();
}
