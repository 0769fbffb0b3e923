import { REST, Routes } from 'discord.js';
import fastify from 'fastify';
import { serve } from './children.ts';

/** A bot without any guarantees: it posts to Discord from inside the request handler and stores nothing. */

const { DISCORD_API_URL: api = '', DISCORD_TOKEN: token = '' } = process.env;

const rest = new REST({ api, globalRequestsPerSecond: 1_000_000 }).setToken(token);
const app = fastify({ logger: false });
app.post<{ Params: { channel: string }; Body: { txHash: string; value: string } }>('/:channel', async (request) => {
  const { txHash, value } = request.body;
  const embeds = [{ title: `Received ${value}`, description: txHash }];
  await rest.post(Routes.channelMessages(request.params.channel), { body: { embeds } });
  return { ok: true };
});

serve({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
