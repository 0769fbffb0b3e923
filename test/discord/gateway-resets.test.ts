import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from '../listen.ts';
import { inTime, until } from '../until.ts';
import { startGatewayBot } from './gateway-bot.ts';

const uncaught: unknown[] = [];
const keep = (error: unknown) => uncaught.push(error);
beforeEach(() => {
  process.on('uncaughtException', keep);
  return () => {
    process.off('uncaughtException', keep);
    expect(uncaught.splice(0)).toEqual([]);
  };
});

interface Relay {
  sockets: Socket[];
  opened: WebSocket[];
  logins: number;
  /** How many close frames arrived; the connection of each was reset. */
  closing: number;
}

/**
 * Starts a gateway that resets every connection as soon as the client begins to close it, and a bot that connects to it.
 * `hold`: connections are never opened; `mute`: log-ins get no response.
 */
async function start(options: { heartbeatMs?: number; hold?: boolean; mute?: boolean } = {}) {
  const relay: Relay = { sockets: [], opened: [], logins: 0, closing: 0 };
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const limit = { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 10 };
    const gateway = { url: `ws://127.0.0.1:${port}`, shards: 1, session_start_limit: limit };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url?.includes('/gateway/bot') ? gateway : []));
  });
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    relay.sockets.push(socket);
    // The HTTP server no longer handles the errors of an upgraded socket, and an unhandled one ends the process.
    socket.on('error', () => {});
    if (options.hold) return;
    upgrades.handleUpgrade(request, socket, head, (connection) => {
      relay.opened.push(connection);
      const close = 0x88;
      // Before the frame is read, so that it gets no response.
      socket.prependListener('data', (bytes: Buffer) => {
        if (bytes[0] !== close) return;
        relay.closing += 1;
        socket.resetAndDestroy();
      });
      connection.on('error', () => {});
      connection.on('message', (data) => {
        const { op } = JSON.parse((data as Buffer).toString()) as { op: number };
        if (op === 2 || op === 6) {
          relay.logins += 1;
          if (options.mute) return;
          const user = { id: '9', username: 'Bell', discriminator: '0', avatar: null };
          const d = { v: 10, user, guilds: [], session_id: 's', application: { id: '9', flags: 0 } };
          const resume_gateway_url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
          send(connection, { op: 0, t: op === 2 ? 'READY' : 'RESUMED', s: 1, d: { ...d, resume_gateway_url } });
        }
      });
      send(connection, { op: 10, d: { heartbeat_interval: options.heartbeatMs ?? 40_000 } });
    });
  });
  const apiUrl = `http://127.0.0.1:${await listen(server)}/api`;
  const { gateway, close } = await startGatewayBot({ token: 'OQ.relay.relay', apiUrl });
  onTestFinished(async () => {
    await close();
    for (const socket of relay.sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { relay, gateway };
}

function send(connection: WebSocket, payload: object): void {
  connection.send(JSON.stringify(payload));
}

it('survives the reset of a connection that was still being opened when the bot stopped', async () => {
  const { relay, gateway } = await start({ hold: true });
  await until('the bot connects', () => relay.sockets.length === 1);
  const [socket] = relay.sockets as [Socket];
  const gone = new Promise((done) => socket.once('close', done));
  await gateway.close();
  socket.resetAndDestroy();
  await inTime('the connection is closed', gone);
  // The client learns of it in the turns of its event loop that follow.
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
});

it('closes connections that it abandoned before they were open', async () => {
  const { relay, gateway } = await start({ hold: true });
  await until('the bot connects', () => relay.sockets.length === 1);
  await gateway.close();
  await until('the bot ends its connection', () => relay.sockets[0]!.readableEnded || relay.sockets[0]!.destroyed);
});

it.each([
  ['has no response', true],
  ['succeeded', false],
])('stops without an error when the connection is reset after its login %s', async (_, mute) => {
  const { relay, gateway } = await start({ mute });
  await until('the bot logs in', () => relay.logins === 1);
  if (!mute) await until('the gateway is ready', () => gateway.state() === 'ready');
  await gateway.close();
  expect(relay.closing).toBe(1);
});

it.each([
  { when: 'it is asked to reconnect', payload: { op: 7, d: null } },
  { when: 'its session is invalid', payload: { op: 9, d: false } },
  { when: 'its heartbeats get no response', payload: null, heartbeatMs: 20 },
])('reconnects after a reset of the connection that it closes because $when', async ({ payload, heartbeatMs }) => {
  const { relay } = await start(heartbeatMs ? { heartbeatMs } : {});
  await until('the bot logs in', () => relay.logins >= 1);
  if (payload) send(relay.opened[0]!, payload);
  await until('the bot closes its connection and opens another', () => relay.closing >= 1 && relay.opened.length >= 2);
});
