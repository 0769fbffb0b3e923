import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
const HERE = { in: orchid.lobby };
let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

it('reports that the audit log is empty', async () => {
  expect(textOf(await world.use('setup audit', {}, HERE))).toContain('Nothing was changed yet');
});

it('shows the audit log in private pages', async () => {
  for (let n = 1; n <= 20; n++) {
    const detail = { name: '`@everyone` [x](https://evil.example)' };
    await world.store.audit.record({
      guildId: orchid.id,
      userId: seed.ada,
      action: n === 20 ? 'unheard.of' : 'label.set',
      detail,
      at: world.clock.now() + n * 1_000,
    });
  }
  const first = await world.use('setup audit', {}, HERE);
  expect(first).toSatisfy(isPrivate);
  const text = textOf(first);
  expect(text).toMatch(/^20 changes/);
  expect(text).toContain('`unheard of`');
  expect(text).toContain(`**Address named** · <@${seed.ada}> · <t:`);
  expect(text).toContain('Entries are kept for one year.');
  const second = await world.press(first, 'setup:audit:1', HERE);
  expect(textOf(second)).not.toContain('unheard');
  expect(textOf(second)).toContain('Page 2 of 3');
});

it('hides watched addresses in the audit log from the manager role, and not from Manage Server', async () => {
  await world.makeManager(seed.noa);
  const entries = [
    { action: 'subscription.add', detail: { address: '0xhidden' } },
    { action: 'webhook.fill', detail: { webhook: 'w1', addresses: ['0xhidden'] } },
  ];
  for (const entry of entries) {
    await world.store.audit.record({ guildId: harbor.id, userId: seed.ada, ...entry, at: world.clock.now() });
  }
  expect(textOf(await world.use('setup audit', {}, { as: seed.max })).match(/0xhidden/g)).toHaveLength(2);
  const text = textOf(await world.use('setup audit', {}, { as: seed.noa }));
  expect(text).toContain('Subscription added');
  expect(text).not.toContain('0xhidden');
});
