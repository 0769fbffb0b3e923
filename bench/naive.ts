import { REST, Routes } from 'discord.js';
import fastify from 'fastify';
import { serve } from './children.ts';

/**
 * A bot without any guarantees: it posts to Discord from inside the request handler and stores nothing. Each address has a
 * channel that is called like it.
 */

const { DISCORD_API_URL: api = '', DISCORD_TOKEN: token = '' } = process.env;

const rest = new REST({ api, globalRequestsPerSecond: 1_000_000 }).setToken(token);
const app = fastify({ logger: false });
app.post<{ Body: { txHash: string; to: string; value: string } }>('/', async ({ body: { txHash, to, value } }) => {
  const embeds = [{ title: `Received ${value}`, description: txHash }];
  await rest.post(Routes.channelMessages(to), { body: { embeds } });
  return { ok: true };
});

serve({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
