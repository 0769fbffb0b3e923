/** Writes to a gateway connection. */
import { constants, createDeflate, type Deflate } from 'node:zlib';
import type { WebSocket } from 'ws';
import type { Json } from './validate.ts';

const streams = new WeakMap<WebSocket, Deflate>();

/** Compresses everything that is written from now on as one zlib stream, flushed after each payload. */
export function compress(socket: WebSocket): void {
  const stream = createDeflate({ flush: constants.Z_SYNC_FLUSH });
  let pending: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    pending.push(chunk);
    const whole = Buffer.concat(pending);
    if (whole.length < 4 || whole.readUInt32BE(whole.length - 4) !== 0x0000ffff) return;
    pending = [];
    if (socket.readyState === socket.OPEN) socket.send(whole);
  });
  socket.on('close', () => stream.destroy());
  streams.set(socket, stream);
}

/** Sends a payload: JSON text, or a value to serialize. */
export function write(socket: WebSocket, payload: Json): void {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const stream = streams.get(socket);
  if (stream) stream.write(text);
  else if (socket.readyState === socket.OPEN) socket.send(text);
}
