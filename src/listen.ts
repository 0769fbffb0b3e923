import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { startError } from './errors.ts';

/** What the bot's servers share: the receiver's and the operator's. */

export const HEADERS = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

function withoutSchemas(): never {
  throw new Error('No route has a schema.');
}

/** Without it Fastify loads 115 files of Ajv and others, which no route of the bot uses: a tenth of the start, 5 MiB. */
export const NO_SCHEMAS = {
  schemaController: { compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas } },
};

/** `name`: the variable that sets the port. Returns the URL. */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'server'>,
  host: string,
  port: number,
  name: string,
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    const todo = `Set another ${name} or ${name.replace('PORT', 'HOST')}.`;
    throw startError(`Ledgerbell cannot start: ${fault.message}. ${todo}`, fault);
  }
  const shown = host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${(app.server.address() as AddressInfo).port}`;
}

type Addresses = Record<'HOST' | 'OPS_HOST', string> & Record<'PORT' | 'OPS_PORT', number>;

export async function assertListenable({ HOST, PORT, OPS_HOST, OPS_PORT }: Addresses): Promise<void> {
  for (const [host, port, name] of [[HOST, PORT, 'PORT'] as const, [OPS_HOST, OPS_PORT, 'OPS_PORT'] as const]) {
    const app = fastify(NO_SCHEMAS);
    await listen(app, host, port, name);
    await app.close();
  }
}
