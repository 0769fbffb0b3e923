import type { Server, Socket } from 'node:net';

/** Connections from addresses that may not deliver, at most. Beyond this the oldest of them is closed. */
const MAX_UNLISTED = 128;

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
    max: number;
    isUnlisted(address: string | undefined): boolean;
    /** A connection was closed because there are too many. */
    onDropped(): void;
  },
): void {
  const { max, isUnlisted, onDropped } = options;
  const maxUnlisted = Math.min(MAX_UNLISTED, Math.ceil(max / 2));
  /** In the order of arrival. */
  const unlisted = new Set<Socket>();
  server.maxConnections = max;
  server.on('drop', onDropped);
  server.on('connection', (socket) => {
    if (!isUnlisted(socket.remoteAddress)) return;
    unlisted.add(socket);
    socket.once('close', () => unlisted.delete(socket));
    if (unlisted.size <= maxUnlisted) return;
    const [oldest] = unlisted;
    oldest?.destroy();
  });
}
