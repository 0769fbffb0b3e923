import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { followHeads } from '../../services/chain/heads.ts';
import { inTime } from '../until.ts';

it('reads each new block that a WebSocket announces, and reconnects when it breaks', async () => {
  const clock = createManualClock();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let seen = () => {};
  const stop = followHeads(url, clock, () => seen());
  const announced = async () => {
    const [socket] = await once(server, 'connection');
    const [request] = await once(socket, 'message');
    expect(JSON.parse(String(request))).toMatchObject({ method: 'eth_subscribe', params: ['newHeads'] });
    const head = new Promise<void>((resolve) => {
      seen = resolve;
    });
    socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    socket.send('{"jsonrpc":"2.0","method":"eth_subscription","params":{"result":{"number":"0x5"}}}');
    await head;
    return socket;
  };
  const socket = await inTime('it connects', announced());
  const again = announced();
  socket.terminate();
  await expect
    .poll(() => clock.untilNext(), { message: 'the next attempt to connect is planned', timeout: 60_000, interval: 10 })
    .toBeLessThanOrEqual(1_000);
  clock.advance(1_000);
  await inTime('it connects again', again);
  stop();
  server.close();
  for (const client of server.clients) client.terminate();
});
