import getPort, { portNumbers } from 'get-port';

/** Below 32,768, where systems start to assign ports on their own: no other program gets one before it is used. */
const [LOWEST, HIGHEST] = [11_000, 31_000];

/** The search starts at a random port, because other processes search, too. */
export function freePorts(count: number): Promise<number[]> {
  const from = LOWEST + Math.floor((Math.random() * (HIGHEST - LOWEST)) / 2);
  return Promise.all(
    Array.from({ length: count }, () => getPort({ host: '127.0.0.1', port: portNumbers(from, HIGHEST) })),
  );
}
