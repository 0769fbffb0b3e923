import { type ChatInputCommandInteraction, Events } from 'discord.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock, type ManualClock, seed } from '../../sandbox/discord/index.ts';
import { call, logIn, standIn } from './bot.ts';

const { general } = seed.harbor;

it('waits until a condition holds, and resolves at once when it already does', async () => {
  const discord = await standIn();
  const posted = discord.until('a message is posted', () => discord.messages(general).length === 1);
  await call(discord, 'POST', `/channels/${general}/messages`, { content: 'x' });
  await posted;
  await discord.until('a message is posted', ({ messages }) => messages(general).length === 1);
});

/** Waits in vain; returns the message of the error that comes after two minutes of real time, and not earlier. */
async function inVain(clock: ManualClock, wait: () => Promise<unknown>): Promise<string> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const rejected = vi.fn<(error: Error) => void>();
  const waited = wait().catch(rejected);
  clock.advance(86_400_000);
  await vi.advanceTimersByTimeAsync(119_999);
  expect(rejected).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await waited;
  return rejected.mock.lastCall![0].message;
}

it('rejects a wait for an interaction after two minutes with its name and state', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  const client = await logIn(discord);
  await client.application.commands.set([{ name: 'ping', description: 'x' }]);
  client.on(Events.InteractionCreate, (interaction) => void (interaction as ChatInputCommandInteraction).deferReply());
  const used = await discord.use({ kind: 'command', name: 'ping', userId: seed.mia, channelId: general });
  const message = await inVain(clock, () => used.final());
  expect(message).toContain(
    'never happened: a final reply to the command /ping. The condition: ({ status, loading }) =>',
  );
  expect(message).toContain('"status":"acknowledged","responseType":5');
  expect(await inVain(clock, () => used.until(({ followups }) => followups.length > 0))).toContain(
    'an update of the command /ping. The condition: ({ followups }) => followups.length > 0. Its state: {',
  );
});
