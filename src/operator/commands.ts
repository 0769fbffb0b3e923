import { commands } from '../../commands/index.ts';
import { registerCommands } from '../discord/register.ts';
import { type DiscordAccess, discordFault, openRest, readApplication } from './discord.ts';

/** Every command that people can type or pick, with its description. */
export function listCommands(): string {
  const rows = commands.map(({ data }) => {
    const definition = data.toJSON();
    return 'description' in definition
      ? { name: `/${definition.name}`, description: definition.description }
      : { name: definition.name, description: '(in the menu of a message)' };
  });
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.map(({ name, description }) => `${name.padEnd(width)}${description}`).join('\n');
}

/** Registers the commands for every server, as each start of the bot does. Returns what to print; throws what to do. */
export async function register(access: DiscordAccess): Promise<string> {
  const rest = openRest(access);
  try {
    const { id, name } = await readApplication(rest);
    const outcome = await registerCommands(rest, id, commands);
    return outcome === 'unchanged'
      ? `${name} already has these ${commands.length} commands.`
      : `Registered ${commands.length} commands for ${name}.`;
  } catch (error) {
    const { found, todo } = discordFault(error);
    throw new Error(`${found}. ${todo}`);
  }
}
