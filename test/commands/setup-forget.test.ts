import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { forFile } from '../for-file.ts';
import { A, buttonsOf, isPrivate, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
const HERE = { in: orchid.lobby };
const world = await forFile(startWorld({ environment: { NOTIFICATION_URL: 'http://127.0.0.1:1' } }));
beforeEach(async () => {
  await world.services.eraseGuild(orchid.id);
  await world.use('subscription add', { address: A, channel: orchid.alerts }, HERE);
  await world.services.projects.save(orchid.id, { projectId: 'p', apiKey: 'k', apiSecret: 's' });
});
const count = async () => (await world.store.subscriptions.list(orchid.id)).length;

it('shows what is stored about a server, erases it on the button, and reports what it erased', async () => {
  await world.subscribe();
  const asked = await world.use('setup forget', {}, HERE);
  expect(asked).toSatisfy(isPrivate);
  expect(textOf(asked)).toMatch(
    /can’t be undone[\s\S]*• 1 subscription\n• 1 record of who changed what\n• the notification project/,
  );
  expect(await count()).toBe(1);
  const done = await world.press(asked, 'setup:erase', HERE);
  expect(textOf(done)).toMatch(/^Erased\n• 1 subscription/);
  expect(buttonsOf(done)).toEqual([]);
  expect(await count()).toBe(0);
  expect(await world.store.projects.ofGuild(orchid.id)).toBeNull();
  expect(world.services.receiver.urls(1).current).toBeNull();
  expect(await world.store.subscriptions.list(harbor.id)).toHaveLength(1);
  expect(await world.read('setup forget', {}, HERE)).toContain('Nothing is stored');
});

it('closes the receiver URL as soon as an erasure has begun', async () => {
  const { scope } = (await world.store.projects.ofGuild(orchid.id))!;
  const url = () => world.services.receiver.urls(scope).current;
  expect(url()).not.toBeNull();
  const { erasure } = world.store;
  const { step } = erasure;
  onTestFinished(() => void Object.assign(erasure, { step }));
  const seen: (string | null)[] = [];
  const observed: typeof step = (...given) => {
    seen.push(url());
    return step(...given);
  };
  Object.assign(erasure, { step: observed });
  const asked = await world.use('setup forget', {}, HERE);
  await world.press(asked, 'setup:erase', HERE);
  expect(seen[0]).toBeNull();
});

it('erases nothing when the erasure is declined, or when the question is too old', async () => {
  const asked = await world.use('setup forget', {}, HERE);
  expect(textOf(await world.press(asked, 'setup:spare', HERE))).toContain('Everything stays as it was');
  const late = await world.use('setup forget', {}, HERE);
  world.clock.advance(15 * 60_000 + 1);
  expect(textOf(await world.press(late, 'setup:erase', HERE))).toMatch(/has expired/);
  expect(await count()).toBe(1);
});
