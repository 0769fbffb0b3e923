import { WebSocket } from 'undici';
import { backOff, type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';

const BACK_OFF = { base: SECOND, max: MINUTE };

/** Calls `onHead` for each new block, and reconnects. Polling continues as well, so nothing depends on it. */
export function followHeads(url: string, clock: Clock, onHead: () => void): () => void {
  let socket: WebSocket | undefined;
  let cancel = () => {};
  let failures = 0;
  let isStopped = false;

  function again(): void {
    cancel();
    if (isStopped) return;
    cancel = clock.after(backOff(failures++, BACK_OFF), open);
  }

  function open(): void {
    const opened = new WebSocket(url);
    socket = opened;
    opened.addEventListener('open', () =>
      opened.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
    );
    opened.addEventListener('message', ({ data }) => {
      if (!String(data).includes('eth_subscription')) return;
      failures = 0;
      onHead();
    });
    opened.addEventListener('error', () => undefined);
    opened.addEventListener('close', again);
  }

  open();
  return () => {
    isStopped = true;
    cancel();
    socket?.close();
  };
}
