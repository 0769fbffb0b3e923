import { beforeEach, expect, it } from 'vitest';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import { forFile } from '../for-file.ts';
import { dueAlerts, freeze, post, quarantine, send, txHash } from '../store/contract/given.ts';
import { blockChannels } from './stored.ts';
import { type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
beforeEach(async () => {
  await world.reset();
  for (const channelId of [harbor.general, harbor.alerts, harbor.whales])
    world.discord.act({ do: 'channel.update', channelId, overwrites: [] });
  for (const { id } of [harbor, orchid]) await world.services.eraseGuild(id);
});

/** Three alerts wait: one is due, one is held, and one joins a sent message that another edit waits for too. One is dead. */
async function storeAlertsOfEveryKind({ store }: CommandWorld): Promise<void> {
  const place = { guildId: harbor.id, channelId: harbor.alerts, now: 1 };
  const { channelId } = place;
  await post(store, [3], place);
  await store.outbox.deadLetter(await freeze(store, { channelId }, 1), 'Invalid Form Body (50035)', 1);
  await post(store, [1], place);
  const reference = 'sent';
  await send(store, { channelId, reference }, 1);
  await post(store, [4], { ...place, transfer: { txHash: txHash(1) } });
  const { joins, alerts } = await dueAlerts(store, 1, channelId);
  await store.outbox.join(channelId, joins[0]!, alerts, '{}', 1);
  await store.outbox.requestRerender([{ channelId, reference }], 1);
  await post(store, [5], place);
  await post(store, [2], { ...place, hold: 'daily' });
}

async function watchSilent(changed: Partial<NewSubscription>) {
  const { id } = await world.subscribe(changed);
  const lastEventAt = world.clock.now() - 90 * DAY;
  await world.recordActivity(id, { events: 50, gapMs: HOUR, lastEventAt });
}

it('lists as many silent addresses as fit, however long the explorer’s links are', async () => {
  world.configure({ explorerUrl: `https://${'explorer.'.repeat(10)}example` });
  for (let n = 1; n <= 6; n++) await watchSilent({ address: `0x${String(n).repeat(40)}` });
  expect(await world.read('status')).toMatch(/Unusually quiet\n(\[`0x\d{40}`\].*\n){3,4}…and [23] more/);
});

it('shows how many deliveries could not be read, to those whose receiver URL it was', async () => {
  await quarantine(
    world.store,
    [1, 2, 3].map(() => Buffer.from('{')),
  );
  await world.store.quarantine.giveUp(0, { rows: 1, bytes: 1_000 });
  const text = await world.read('status');
  expect(text).toContain('3 deliveries could not be read and are set aside\n2 of them lost their bytes');
  const scope = await world.store.projects.save(
    { guildId: harbor.id, projectId: 'own', sealed: Buffer.alloc(0) },
    'url',
  );
  expect(await world.read('status')).not.toContain('could not be read');
  await quarantine(world.store, [Buffer.from('{')], scope);
  expect(await world.read('status')).toContain('1 delivery could not be read and is set aside');
});

it('shows only the server’s own figures', async () => {
  const { id } = await world.subscribe({ channelId: harbor.general });
  await world.subscribe({ channelId: harbor.whales });
  await world.store.subscriptions.change(harbor.id, id, { paused: true, quiet: '22:00-07:00', holdAll: true });
  await world.recordActivity(id, { lastEventAt: world.clock.now() });
  await watchSilent({ channelId: harbor.treasury, label: 'Payroll' });
  await storeAlertsOfEveryKind(world);
  await blockChannels(world.store, harbor.id, { [harbor.whales]: 'parked' }, 60_000);
  // The other one no longer posts anything.
  const gone = { [harbor.general]: 'unreachable', '1100000000000066666': 'unreachable' } as const;
  await blockChannels(world.store, harbor.id, gone);
  const refused = { reason: 'unlisted', source: '203.0.113.9', at: world.clock.now() } as const;
  world.replace({ lastRefused: (of) => (of === 'any' ? refused : null) });
  const answer = await world.use('status');
  const text = textOf(answer);
  expect(answer).toSatisfy(isPrivate);
  for (const part of [
    'Waiting to be sent\n3 alerts\n1 of them held for a digest',
    'Failed to send\n1 alert\n',
    '3 of 1,000 subscriptions\n1 of them paused',
    '1 of them also holds payments out: one would wait until 07:00',
    `<#${harbor.whales}>: Discord rejected my messages <t:60:R>`,
    `<#${harbor.general}>: deleted, or I lost access some time ago`,
    `Last error\n<t:0:R> in <#${harbor.alerts}>: \`Invalid Form Body (50035)\`\n`,
  ])
    expect(text).toContain(part);
  expect(text).toMatch(/Last event\n<t:\d+:R>/);
  expect(text).toMatch(/Unusually quiet\n\*\*Payroll\*\*: last event <t:\d+:R>/);
  expect(text).toMatch(/Last error\n.*\n.*`203.0.113.9`/);
  expect(text).not.toContain('66666');
  expect(text).toMatch(/Ledgerbell \d+\.\d+\.\d+ · Node 24\.\S+ · discord\.js 14\.\S+ · schema \d+/);
  const hide = [{ id: harbor.id, type: 0 as const, allow: '0', deny: String(0x400n) }];
  for (const channelId of [harbor.whales, harbor.alerts])
    world.discord.act({ do: 'channel.update', channelId, overwrites: hide });
  await world.makeManager(seed.noa);
  const byRole = await world.read('status', {}, { as: seed.noa, in: harbor.general });
  expect(byRole).toMatch(/Last error\n.*203\.0/);
  expect(byRole).not.toMatch(new RegExp(`Payroll|silent|${harbor.whales}|${harbor.alerts}|Invalid`));
  const elsewhere = await world.read('status', {}, { in: orchid.lobby });
  expect(elsewhere).toMatch(
    /Last event\nnone for the current subscriptions\nWaiting to be sent\n0 alerts\nFailed to send\n0 alerts/,
  );
  expect(elsewhere).not.toMatch(/203\.0|refused|Last error|silent/);
});
