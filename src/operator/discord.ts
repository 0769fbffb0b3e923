import { REST } from 'discord.js';
import { commands, commandsFor } from '../../commands/index.ts';
import { registerCommands } from '../discord/register.ts';
import { makeRequest } from '../discord/sender.ts';
import { reasonOf } from '../errors.ts';

interface DiscordAccess {
  DISCORD_TOKEN: string;
  DISCORD_API_URL: string;
}

interface Application {
  id: string;
  name: string;
  approximate_guild_count?: number;
}

function openRest({ DISCORD_TOKEN, DISCORD_API_URL }: DiscordAccess): REST {
  const options = { version: '10', api: DISCORD_API_URL, retries: 0, timeout: 10_000, makeRequest } as const;
  return new REST(options).setToken(DISCORD_TOKEN);
}

export const readApplication = async (access: DiscordAccess, rest = openRest(access)): Promise<Application> =>
  (await rest.get('/applications/@me')) as Application;

export function discordFault(error: unknown): { found: string; todo: string } {
  return (error as { status?: number }).status === 401
    ? {
        found: 'Discord refuses the token',
        todo: 'Set DISCORD_TOKEN to the bot token from the Discord developer portal.',
      }
    : { found: `Discord cannot be used: ${reasonOf(error)}`, todo: 'Check that this machine reaches DISCORD_API_URL.' };
}

export function listCommands(): string {
  const rows = commands.map(({ data }) =>
    'description' in data
      ? { name: `/${data.name}`, description: data.description }
      : { name: data.name, description: '(in the menu of a message)' },
  );
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.map(({ name, description }) => `${name.padEnd(width)}${description}`).join('\n');
}

export async function register(access: DiscordAccess & { networks: readonly unknown[] }): Promise<string> {
  try {
    const rest = openRest(access);
    const { id, name } = await readApplication(access, rest);
    const { outcome } = await registerCommands(rest, id, commandsFor(access.networks.length));
    return outcome === 'unchanged'
      ? `${name} already has these ${commands.length} commands.`
      : `Registered ${commands.length} commands for ${name}.`;
  } catch (error) {
    const { found, todo } = discordFault(error);
    throw new Error(`${found}. ${todo}`);
  }
}
