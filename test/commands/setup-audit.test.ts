import { expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { A, B, isPrivate, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
const HERE = { in: orchid.lobby };
const world = await forFile(startWorld());

it('shows the audit log in private pages', async () => {
  expect(await world.read('setup audit', {}, HERE)).toContain('Nothing was changed yet');
  const detail = { name: '`@everyone` [x](https://evil.example)' };
  const made = { guildId: orchid.id, userId: seed.ada, detail };
  for (let n = 1; n <= 20; n++) {
    const action = n === 20 ? 'unheard.of' : 'label.set';
    await world.store.audit.record({ ...made, action, at: world.clock.now() + n * 1_000 });
  }
  const first = await world.use('setup audit', {}, HERE);
  expect(first).toSatisfy(isPrivate);
  const text = textOf(first);
  expect(text).toMatch(/^20 changes/);
  for (const part of ['`unheard of`', `**Address named** · <@${seed.ada}> · <t:`, 'Entries are kept for one year.'])
    expect(text).toContain(part);
  const second = textOf(await world.press(first, 'setup:audit:1', HERE));
  expect(second).not.toContain('unheard');
  expect(second).toContain('Page 2 of 3');
});

it('hides watched addresses in the audit log from the manager role, and not from Manage Server', async () => {
  await world.makeManager(seed.noa);
  const made = { guildId: harbor.id, userId: seed.ada, at: world.clock.now() };
  await world.store.audit.record({ ...made, action: 'subscription.add', detail: { address: '0xhidden' } });
  const detail = { webhook: 'w1', addresses: ['0xhidden'] };
  await world.store.audit.record({ ...made, action: 'webhook.fill', detail });
  expect((await world.read('setup audit', {}, { as: seed.max })).match(/0xhidden/g)).toHaveLength(2);
  const text = await world.read('setup audit', {}, { as: seed.noa });
  expect(text).toContain('Subscription added');
  expect(text).not.toContain('0xhidden');
});

it('names what changed in the reader’s language, with names, mentions and times', async () => {
  await world.use('subscription add', { address: A, label: 'Treasury' });
  const [{ id } = { id: 0 }] = await world.store.subscriptions.list(harbor.id);
  const edit = (options: object) => world.use('subscription edit', { subscription: A, ...options });
  await edit({ direction: 'outgoing', zero: true, channel: harbor.whales, 'mention-cooldown': 9 });
  await edit({ counterparties: B, 'exclude-tokens': 'native' });
  await edit({ counterparties: 'none' });
  for (const duration of ['8h', 'off']) await world.use('subscription mute', { subscription: A, duration });
  await world.use('label set', { address: A, name: 'Vault' });
  await world.use('setup server', { manager: harbor.manager, channel: harbor.alerts, language: 'de' });
  await world.use('setup server', { language: 'en-US' });
  world.speak('de');
  const first = await world.use('setup audit');
  const all = textOf(first) + textOf(await world.press(first, 'setup:audit:1'));
  for (const phrase of [
    `Vault \`${A.slice(0, 6)}…${A.slice(-4)}\` · Treasury → Vault`,
    `Vault (#${id}) · 🔕 stumm bis <t:`,
    'Ab jetzt wird wieder gemeldet.',
    'gegenseiten: —',
    `gegenseiten: \`${B}\``,
    'richtung: `ausgehend`',
    'null: ja',
    `<#${harbor.whales}>`,
    `<@&${harbor.manager}>`,
    'sprache: Deutsch',
  ])
    expect(all).toContain(phrase);
  expect(all).not.toMatch(/[{}"[\]]|mutedUntil|defaultChannel|filters|watchSilence|mentionCooldown/);
});
