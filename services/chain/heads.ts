import { WebSocket } from 'undici';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';

const FIRST_WAIT_MS = SECOND;
const MAX_WAIT_MS = MINUTE;

/**
 * Subscribes to new blocks over WebSocket, calls `onHead` for each, and reconnects when the connection ends. Polling
 * continues as well, so nothing depends on it. Returns a stop function.
 */
export function followHeads(url: string, clock: Clock, onHead: () => void): () => void {
  let socket: WebSocket | undefined;
  let cancel = () => {};
  let wait = FIRST_WAIT_MS;
  let isStopped = false;

  const again = (): void => {
    cancel();
    if (isStopped) return;
    cancel = clock.after(wait, open);
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  };
  const open = (): void => {
    const opened = new WebSocket(url);
    socket = opened;
    opened.addEventListener('open', () =>
      opened.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
    );
    opened.addEventListener('message', ({ data }) => {
      if (!String(data).includes('eth_subscription')) return;
      wait = FIRST_WAIT_MS;
      onHead();
    });
    opened.addEventListener('error', () => undefined);
    opened.addEventListener('close', again);
  };

  open();
  return () => {
    isStopped = true;
    cancel();
    socket?.close();
  };
}
