#!/usr/bin/env node
import { startDiscord } from './index.ts';

const port = Number(process.env.DISCORD_PORT ?? 4010);
const host = process.env.DISCORD_HOST ?? '127.0.0.1';

try {
  const discord = await startDiscord({ host, port });
  // Before it is announced: whoever waits for that may end it at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void discord.close());
  console.log(`A stand-in for Discord listens on ${discord.url}

Point a bot at it:
  DISCORD_API_URL=${discord.apiUrl}
  DISCORD_TOKEN=${discord.token}
  new Client({ intents: ['Guilds'], rest: { api: '${discord.apiUrl}' } })

Its state: ${discord.url}/_control/state (see sandbox/discord/README.md). Ctrl-C stops it.`);
} catch (error) {
  const code = (error as NodeJS.ErrnoException).code;
  const reason =
    code === 'EADDRINUSE'
      ? `Port ${port} is in use. Stop the program that uses it, or set another one with DISCORD_PORT.`
      : `The Discord stand-in cannot listen on ${host} port ${process.env.DISCORD_PORT ?? port}: ${(error as Error).message}`;
  console.error(reason);
  process.exitCode = 1;
}
