import type { AddressInfo } from 'node:net';
import { startError } from '../errors.ts';

/**
 * Has a server listen and gives its URL; `name` is the variable that sets the port (0: any free one). Throws an Error
 * with a message for the operator when it cannot listen there.
 */
export async function listen(
  server: {
    listen(options: { host: string; port: number }): Promise<string>;
    server: { address(): AddressInfo | string | null };
  },
  host: string,
  port: number,
  name: string,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is in use. Stop what uses it, or set another ${name}.`
        : `${(error as Error).message}. Set another ${name} or ${name.replace('PORT', 'HOST')}.`;
    throw startError(`Ledgerbell cannot start: ${why}`, error as NodeJS.ErrnoException);
  }
  const shown = host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${(server.server.address() as AddressInfo).port}`;
}
