import { existsSync } from 'node:fs';
import { startBot } from '../bot.ts';
import { fileIn, start, TOKEN } from '../children.ts';
import { fill } from '../sqlite/database.ts';

/** A running program that takes webhooks and posts to Discord. */
export interface Running {
  /** Where events are posted to. */
  url: string;
  /** Ends all its processes at once, with SIGKILL. */
  kill(): Promise<void>;
}

/** A program to measure. */
export interface Peer {
  name: string;
  /** Only its rate is measured: it posts nothing. */
  isBound?: true;
  /** How long after a start it may post nothing and still continue later. */
  patienceMs: number;
  /** Starts it with its data in this folder, which is empty at first; fails with the reason if that is not possible. */
  start(folder: string, apiUrl: string): Promise<Running>;
}

/** A Fastify that parses the body and responds: nothing is stored or posted. The bound for `acknowledged/s`. */
export const bare: Peer = {
  name: 'bare Fastify',
  isBound: true,
  patienceMs: 0,
  async start() {
    const server = await start<{ url: string }>('bench/servers.ts', ['bare']);
    return { url: `${server.ready.url}/hooks/${TOKEN}`, kill: () => server.stop() };
  },
};

/** This bot, with a subscription for each of the channels. */
export const ours = (channels: readonly string[]): Peer => ({
  name: 'Ledgerbell',
  patienceMs: 10_000,
  async start(folder, apiUrl) {
    if (!existsSync(fileIn(folder))) fill(folder, channels.length, channels);
    const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: apiUrl, EXPLORER_URL: 'http://explorer.example' };
    return startBot(folder, env);
  },
});
