/** Preloaded into the bot's process: when the sandbox is gone, however it went, its end of this pipe closes. */
import { isMainThread } from 'node:worker_threads';

const letGo = (): void => void process.kill(process.pid, 'SIGTERM');
// Worker threads preload this too, and their standard input is at its end from the start.
if (isMainThread) {
  process.stdin.once('end', letGo).once('error', letGo).resume();
  (process.stdin as { unref?: () => void }).unref?.();
}
