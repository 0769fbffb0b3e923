import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock, seed } from '../../sandbox/discord/index.ts';
import { call, standIn } from './bot.ts';

const { general } = seed.harbor;

it('waits until a condition holds, and resolves at once when it already does', async () => {
  const discord = await standIn();
  const posted = discord.until('a message is posted', () => discord.messages(general).length === 1);
  await call(discord, 'POST', `/channels/${general}/messages`, { content: 'x' });
  await posted;
  await discord.until('a message is posted', ({ messages }) => messages(general).length === 1);
});

it('rejects with what was waited for after two minutes, whatever its clock shows', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const rejected = vi.fn<(error: Error) => void>();
  const waited = discord.until('a message is posted', () => discord.messages(general).length === 1).catch(rejected);
  clock.advance(86_400_000);
  await vi.advanceTimersByTimeAsync(119_999);
  expect(rejected).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await waited;
  expect(rejected.mock.lastCall![0].message).toContain('never happened: a message is posted. The condition: () =>');
});
