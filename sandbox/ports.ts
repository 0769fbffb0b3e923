import { createServer } from 'node:net';

/** Below 32,768, where systems start to assign ports on their own: no other program gets one before it is used. */
const [LOWEST, COUNT] = [11_000, 20_000];
const TRIES = 100;

/** Returns `count` different free ports of 127.0.0.1. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let n = 0; found.size < count; n++) {
    if (n === TRIES + count) throw new Error('No free port was found on 127.0.0.1.');
    const port = LOWEST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((settle) => {
    server.once('error', () => settle(false));
    server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
  });
}
