import { existsSync } from 'node:fs';
import { startBot } from '../bot.ts';
import { fileIn } from '../children.ts';
import { fill } from '../sqlite/fill.ts';
import type { Peer } from './program.ts';

/** This bot, with a subscription for each of the channels. */
export const ours = (channels: readonly string[]): Peer => ({
  name: 'Ledgerbell',
  patienceMs: 10_000,
  async start(folder, apiUrl) {
    if (!existsSync(fileIn(folder))) fill(folder, channels.length, channels);
    const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: apiUrl, EXPLORER_URL: 'http://explorer.example' };
    const bot = await startBot(folder, env);
    return { urlOf: () => bot.url, kill: () => bot.kill() };
  },
});
