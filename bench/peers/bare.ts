import { start, TOKEN } from '../children.ts';
import type { Peer } from './program.ts';

/** A Fastify that parses the body and responds: nothing is stored or posted. The bound for `acknowledged/s`. */
export const bare: Peer = {
  name: 'bare Fastify',
  isBound: true,
  patienceMs: 0,
  async start() {
    const server = await start<{ url: string }>('bench/servers.ts', ['bare']);
    return { urlOf: () => `${server.ready.url}/hooks/${TOKEN}`, kill: () => server.stop() };
  },
};
