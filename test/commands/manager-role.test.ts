import { afterAll, beforeAll, expect, it } from 'vitest';
import { B, buttonsOf, type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

const { harbor } = seed;
const ONLY = /This needs \*\*Manage Server\*\*\. The manager role is not enough\./;
/** Noa has the manager role and nothing else; Max has Manage Server. */
const [noa, max] = [{ as: seed.noa }, { as: seed.max }];
let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
  await world.makeManager(seed.noa);
});
afterAll(() => world.close());

it('refuses to let the manager role appoint another role or remove itself', async () => {
  for (const manager of [harbor.watchers, harbor.id]) {
    expect(textOf(await world.use('setup server', { manager }, noa))).toMatch(ONLY);
  }
  expect((await world.store.guilds.settings(harbor.id)).managerRole).toBe(harbor.watchers);
  expect(textOf(await world.use('setup server', { timezone: 'UTC' }, noa))).toContain('Saved');
});

it('refuses to let the manager role erase the server’s data', async () => {
  expect(textOf(await world.use('setup forget', {}, noa))).toMatch(ONLY);
  expect((await world.store.guilds.settings(harbor.id)).managerRole).toBe(harbor.watchers);
});

it('shows the manager role the project without its receiver URL, and refuses changes', async () => {
  const panelFor = async (who: object) => world.press(await world.use('setup check', {}, who), 'setup:receiver', who);
  const shown = await panelFor(max);
  expect(shown).toSatisfy(isPrivate);
  expect(textOf(shown)).toContain('/hooks/');
  const hidden = await panelFor(noa);
  expect(JSON.stringify(hidden)).not.toContain('/hooks/');
  expect(textOf(hidden)).toContain('Only people with **Manage Server** can see it');
  expect(buttonsOf(hidden)).toEqual([]);
});

it('shows the receiver URL only after a press on its button', async () => {
  const answers = [
    await world.use('setup check'),
    await world.use('status'),
    await world.use('subscription add', { address: B }),
    await world.use('subscription list'),
    await world.use('help'),
  ];
  for (const answer of answers) expect(JSON.stringify(answer)).not.toContain('/hooks/');
});
