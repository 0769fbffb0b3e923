import { createServer } from 'node:net';

/** Systems hand out ports from 32,768 on by themselves; here nobody else is given one before it is used. */
const [LOWEST, COUNT] = [11_000, 20_000];
const TRIES = 100;

/** So many ports of 127.0.0.1 that nobody uses now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let n = 0; found.size < count; n++) {
    if (n === TRIES + count) throw new Error('No port of 127.0.0.1 can be used.');
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
