import { type Peer, startProgram } from './program.ts';

/** A bot that posts from inside the request handler and stores nothing. */
export const naive: Peer = {
  name: 'naive discord.js',
  patienceMs: 10_000,
  async start(_folder, apiUrl) {
    const env = { DISCORD_TOKEN: 'none', DISCORD_API_URL: apiUrl };
    const { ready, ...program } = await startProgram(process.execPath, ['bench/naive.ts'], {
      until: /"url":"(.+?)"/,
      env,
    });
    return { ...program, urlOf: (channel) => `${ready[1]}/${channel}` };
  },
};
