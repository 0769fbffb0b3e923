import { type AddressInfo, createServer } from 'node:net';
import { startError } from '../errors.ts';

/**
 * Makes a server listen and returns its URL; `name` is the variable that sets the port (0: any free one). Throws an
 * Error with a message for the operator when it cannot listen there.
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
    const fault = error as NodeJS.ErrnoException;
    throw startError(`Ledgerbell cannot start: ${reasonOf(fault, host, port, name)}`, fault);
  }
  const shown = host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${(server.server.address() as AddressInfo).port}`;
}

/** Throws the same Error if a server could not listen there; listens briefly to find out. */
export async function assertListenable(host: string, port: number, name: string): Promise<void> {
  const server = createServer();
  const listening = {
    server,
    listen: (options: { host: string; port: number }) =>
      new Promise<string>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options, () => resolve(''));
      }),
  };
  await listen(listening, host, port, name);
  await new Promise((resolve) => server.close(resolve));
}

function reasonOf({ code, message }: NodeJS.ErrnoException, host: string, port: number, name: string): string {
  const hostName = name.replace('PORT', 'HOST');
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use. Stop what uses it, or set another ${name}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set ${hostName} to one that is, like 127.0.0.1.`;
    case 'EACCES':
      return `this user may not listen on port ${port}. Set ${name} to one above 1023.`;
    default:
      return `${message}. Set another ${name} or ${hostName}.`;
  }
}
