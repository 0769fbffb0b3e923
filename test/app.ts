import pino, { type Level, type Logger } from 'pino';
import type { Discord } from '../sandbox/discord/index.ts';
import type { AppOverrides } from '../src/app/context.ts';
import { type Config, readConfig } from '../src/config.ts';

/** Shared by tests of the whole bot. Those in this process start it with `startApp`. */

export const PATH_TOKEN = 'path-token-of-the-test';

/** What every bot of a test has in its environment, with a free port for each server. */
export const botEnvironment = ({ token, apiUrl }: Pick<Discord, 'token' | 'apiUrl'>, databaseUrl: string) => ({
  DISCORD_TOKEN: token,
  DISCORD_API_URL: apiUrl,
  PORT: '0',
  OPS_PORT: '0',
  DATABASE_URL: databaseUrl,
  RECEIVER_TOKEN: PATH_TOKEN,
});

/** The usual configuration of a test over a file, and what differs from it. */
export const configOf = (
  discord: Pick<Discord, 'token' | 'apiUrl'>,
  file: string,
  environment: Record<string, string> = {},
): Config =>
  readConfig({
    ...botEnvironment(discord, `sqlite:${file}`),
    RECEIVER_SOURCE_CHECK: 'off',
    EXPLORER_URL: 'https://explorer.example',
    ...environment,
  });

export const registered = (discord: Discord): Promise<void> =>
  discord.until('the commands are registered', ({ state }) =>
    state.commands.some(({ commands }) => commands.length > 0),
  );

/** Logs nothing, or as much as TEST_LOG names. */
export const testLog = (): Logger => pino({ level: process.env.TEST_LOG ?? 'silent' });

/** The same, for a test that reads the lines from this level on. */
export const readLog = (level: Level, onLine: (line: string) => void): Logger =>
  pino(
    { level },
    pino.multistream([
      { level, stream: { write: onLine } },
      { level: testLog().level as Level, stream: process.stdout },
    ]),
  );

/** In the place of the gateway, for tests in which nobody uses a command: connected, and nothing happens there. */
export const noGateway: NonNullable<AppOverrides['connect']> = () => ({
  state: () => 'ready',
  shards: () => new Map([[0, true]]),
  close: async () => undefined,
});
