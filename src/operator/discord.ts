import { REST } from 'discord.js';
import { makeRequest } from '../discord/request.ts';
import { reasonOf } from '../errors.ts';

/** What the operator's commands need to send requests to Discord. */
export interface DiscordAccess {
  DISCORD_TOKEN: string;
  DISCORD_API_URL: string;
}

/** A REST client of the bot; it tries once and times out after 10 s. */
export function openRest({ DISCORD_TOKEN, DISCORD_API_URL }: DiscordAccess): REST {
  const options = { version: '10', api: DISCORD_API_URL, retries: 0, timeout: 10_000, makeRequest } as const;
  return new REST(options).setToken(DISCORD_TOKEN);
}

/** The application that a token belongs to, as Discord describes it. */
export interface Application {
  id: string;
  name: string;
  approximate_guild_count?: number;
}

/** Asks Discord whose token this is; rejects with the library's error when Discord refuses it. */
export const readApplication = async (rest: REST): Promise<Application> =>
  (await rest.get('/applications/@me')) as Application;

/** What an error of these requests means for the operator, and what to do. */
export function discordFault(error: unknown): { found: string; todo: string } {
  return (error as { status?: number }).status === 401
    ? {
        found: 'Discord refuses the token',
        todo: 'Set DISCORD_TOKEN to the bot token from the Discord developer portal.',
      }
    : { found: `Discord cannot be used: ${reasonOf(error)}`, todo: 'Check that this machine reaches DISCORD_API_URL.' };
}
