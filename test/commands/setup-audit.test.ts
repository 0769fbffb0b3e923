import { expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { A, B, isPrivate, lower, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
const HERE = { in: orchid.lobby };
const world = await forFile(startWorld());

it('reports that the audit log is empty', async () => {
  expect(await world.read('setup audit', {}, HERE)).toContain('Nothing was changed yet');
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
  expect((await world.read('setup audit', {}, { as: seed.max })).match(/0xhidden/g)).toHaveLength(2);
  const text = await world.read('setup audit', {}, { as: seed.noa });
  expect(text).toContain('Subscription added');
  expect(text).not.toContain('0xhidden');
});

it('names what changed in the reader’s language, with names, mentions and times', async () => {
  await world.use('subscription add', { address: A, label: 'Treasury', channel: harbor.alerts });
  const [added] = (await world.store.subscriptions.list(harbor.id)).filter(({ address }) => address === lower(A));
  const subscription = String(added!.id);
  await world.use('subscription edit', {
    subscription,
    direction: 'outgoing',
    zero: true,
    channel: harbor.whales,
    'mention-cooldown': 9,
  });
  await world.use('subscription edit', { subscription, counterparties: B, 'exclude-tokens': 'native' });
  await world.use('subscription edit', { subscription, counterparties: 'none' });
  await world.use('subscription mute', { subscription, duration: '8h' });
  await world.use('subscription mute', { subscription, duration: 'off' });
  await world.use('label set', { address: A, name: 'Vault' });
  await world.use('setup server', { manager: harbor.manager, channel: harbor.alerts, language: 'de' });
  await world.use('setup server', { language: 'en-US' });
  world.speak('de');
  const first = await world.use('setup audit');
  const all = textOf(first) + textOf(await world.press(first, 'setup:audit:1'));
  for (const phrase of [
    `Vault \`${A.slice(0, 6)}…${A.slice(-4)}\` · Treasury → Vault`,
    `Vault (#${subscription}) · 🔕 stumm bis <t:`,
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
