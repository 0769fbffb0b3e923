/** The example of sandbox/discord/README.md, which shows exactly this file. */
import { Client } from 'discord.js';
import { seed, startDiscord } from 'ledgerbell-discord-stand-in';
import { expect, it } from 'vitest';

/** The bot under test: greets people who use /hello. */
async function startBot(api: string, token: string): Promise<Client> {
  const client = new Client({ intents: ['Guilds'], rest: { api } });
  client.on('interactionCreate', (interaction) => {
    if (interaction.isChatInputCommand()) void interaction.reply(`Hello ${interaction.user.username}`);
  });
  await client.login(token);
  await client.application!.commands.set([{ name: 'hello', description: 'Says hello' }]);
  return client;
}

it('greets the person who uses /hello', async () => {
  const discord = await startDiscord();
  const bot = await startBot(discord.apiUrl, discord.token);
  const used = await discord.use({
    kind: 'command',
    name: 'hello',
    userId: seed.mia,
    channelId: seed.harbor.general,
  });
  expect(used.state.reply?.message.content).toBe('Hello mia');
  await bot.destroy();
  await discord.close();
});
