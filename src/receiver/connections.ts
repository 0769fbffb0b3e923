import type { Server, Socket } from 'node:net';

/** Connections from addresses that may not deliver, at most. Beyond this the oldest of them is closed. */
const MAX_STRANGERS = 128;

/** Milliseconds within which a request's headers must be complete, and how often that is checked. */
export const HEADERS = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * Caps a server's connections, so that idle ones leave file descriptors for the database and for Discord. Connections from
 * addresses that may not deliver close each other, never one from an address that may.
 */
export function capConnections(
  server: Server,
  options: {
    /** Connections in total, at most; further ones are closed at once. */
    most: number;
    isStranger(address: string | undefined): boolean;
    /** A connection was closed because there are too many. */
    onDropped(): void;
  },
): void {
  const { most, isStranger, onDropped } = options;
  const mostStrangers = Math.min(MAX_STRANGERS, Math.ceil(most / 2));
  /** In the order of arrival. */
  const strangers = new Set<Socket>();
  server.maxConnections = most;
  server.on('drop', onDropped);
  server.on('connection', (socket) => {
    if (!isStranger(socket.remoteAddress)) return;
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    if (strangers.size <= mostStrangers) return;
    const [oldest] = strangers;
    oldest?.destroy();
  });
}
