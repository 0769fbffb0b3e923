import { Client } from 'discord.js';

/** As few lines as the library's guide has. Ends when nobody listens. */

const { DISCORD_API_URL: api, DISCORD_TOKEN: token } = process.env;

const client = new Client({ intents: ['Guilds'], rest: { api } });
client.once('clientReady', () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit()).resume();
await client.login(token);
