/** Preloaded into the bot's process: stops it when the sandbox is gone and its end of the pipe closes. */
import { isMainThread } from 'node:worker_threads';

const stop = (): void => void process.kill(process.pid, 'SIGTERM');
// Worker threads preload this, too, and their standard input is already at its end.
if (isMainThread) {
  process.stdin.once('end', stop).once('error', stop).resume();
  (process.stdin as { unref?: () => void }).unref?.();
}
