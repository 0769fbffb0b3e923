import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../../listen.ts';

export interface Cable {
  port: number;
  /** From now on nothing passes, and neither side notices. */
  cut(): void;
  mend(): void;
  /** Forgets all connections: nothing passes on them from then on, and neither side notices. New ones pass. */
  forget(): void;
  /** Loses the response to the next commit of a transaction with this statement, and ends its connection. */
  loseCommit(statement: string): void;
  close(): Promise<void>;
}

export async function layCable(to: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let wanted: string | null = null;
  const add = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('data', (bytes) => other.write(bytes));
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      // The end of a connection does not pass either.
      if (!isCut) other.destroy();
    });
    if (isCut) socket.pause();
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    let isFound = false;
    near.on('data', (bytes) => {
      isFound ||= wanted !== null && bytes.includes(wanted);
      if (!isFound || !bytes.includes('COMMIT')) return;
      isFound = false;
      wanted = null;
      far.prependOnceListener('data', () => near.destroy());
    });
    add(near, far);
    add(far, near);
  });
  const port = await listen(server);
  const each = (act: (socket: Socket) => void) => {
    for (const socket of sockets) act(socket);
  };
  return {
    port,
    cut() {
      isCut = true;
      each((socket) => socket.pause());
    },
    mend() {
      isCut = false;
      each((socket) => socket.resume());
    },
    forget: () =>
      each((socket) => {
        socket.removeAllListeners('data');
        socket.removeAllListeners('close');
        socket.resume();
      }),
    loseCommit(statement) {
      wanted = statement;
    },
    async close() {
      each((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}
