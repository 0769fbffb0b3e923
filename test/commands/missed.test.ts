import { beforeEach, expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { forFile } from '../for-file.ts';
import { decision, keyOf, routed, storedTransfer } from '../store/contract/given.ts';
import { startWebhookService } from './webhook-service.ts';
import { buttonsOf, isPrivate, RECEIVER_URL, seed, startWorld, textOf } from './world.ts';

const MINUTE = 60_000;
const { harbor } = seed;
const addressOf = (digit: string): AddressText => `0x${digit.repeat(40)}`;
const [HELD, TOKENS, LACKING] = [addressOf('1'), addressOf('2'), addressOf('3')];
const [SILENT, TWICE, ADDED] = [addressOf('4'), addressOf('5'), addressOf('6')];
const service = await forFile(startWebhookService());
const world = await forFile(startWorld({ environment: { NOTIFICATION_URL: service.url } }));
let number = 0;

beforeEach(async () => {
  await world.reset();
  await world.store.projects.chooseWebhook(harbor.id, 0, null);
  service.reset();
  // By then, the cached responses of the service have expired.
  world.clock.advance(MINUTE);
});

/** Transfers to an address, seen `ago` before now: found on the chain, or delivered. */
async function store(to: AddressText, { count = 1, isFound = true, ago = 0 } = {}) {
  const seenAt = world.clock.now() - ago;
  const numbers = Array.from({ length: count }, () => ++number);
  const transfers = numbers.map((n) => ({
    ...storedTransfer(n, { seenAt, transfer: { kind: 'native', to } }),
    ...(isFound && { minedAt: seenAt - MINUTE }),
  }));
  const subscriptions = (await world.store.subscriptions.list(harbor.id)).filter(({ address }) => address === to);
  const decisions = subscriptions.flatMap(({ id, channelId }) => {
    const about = { guildId: harbor.id, channelId, subscription: id, address: to };
    return numbers.map((n) => decision(n, { ...about, transferKey: keyOf(n), at: seenAt }));
  });
  await world.store.routing.commit(routed({ now: seenAt, transfers, decisions }));
}

/** Misses transfers because the only webhook with the address leaves out their kind. */
async function lackKind(channelId: string = harbor.alerts) {
  const narrow = service.hook('narrow', RECEIVER_URL, [TOKENS], 'ERC20');
  await world.subscribe({ address: TOKENS, channelId });
  await store(TOKENS, { count: 2 });
  return narrow;
}

it('names each cause of missed transfers, and mends with a button what a webhook lacks', async () => {
  const whole = service.hook('whole', RECEIVER_URL, [HELD]);
  service.hook('elsewhere', 'https://other.example', [LACKING]);
  const narrow = await lackKind();
  await world.subscribe({ address: HELD });
  await world.subscribe({ address: LACKING, label: 'Vault' });
  await store(LACKING, { count: 2 });
  await store(HELD);
  const causes =
    /2 missed transfers.*No webhook that posts here includes \*\*Vault\*\* \[`0x3{40}`\].*\n.*2 missed transfers.*leave out this kind/;
  for (const command of ['setup check', 'status']) {
    const reply = await world.use(command);
    const lines = textOf(reply).match(/^.*missed transfer.*$/gm)!;
    expect(lines.sort().join('\n')).toMatch(causes);
    expect(buttonsOf(reply)).toEqual(expect.arrayContaining(['webhook:fill:all', 'webhook:move']));
    expect(buttonsOf(reply)).not.toContain('setup:check');
  }

  world.clock.advance(1_000);
  const moved = textOf(await world.press(await world.use('status'), 'webhook:move'));
  expect(moved).toMatch(/Alerts will come[\s\S]*Added 1 address to webhook `whole`[\s\S]*no longer have them/);
  expect([[...whole.addresses], [...narrow.addresses]]).toEqual([[HELD, TOKENS], []]);
  await world.press(await world.use('status'), 'webhook:fill');

  // A cause that is fixed is still explained, but is not a fault.
  world.clock.advance(60_000);
  const reply = await world.use('setup check');
  expect(textOf(reply)).toMatch(/^(?!.*❌).*✅ 4 missed transfers[^\n]* Added to a webhook [^\n]*0x2222[^\n]*0x3333/s);
  expect(buttonsOf(reply).filter((id) => id.startsWith('webhook:'))).toEqual([]);
  // Nobody misses what nobody watches any longer.
  await world.reset();
  expect(await world.read('setup check')).not.toContain('missed transfers');
});

it('counts a missed transfer once, however many subscriptions it matched', async () => {
  for (const channelId of [harbor.alerts, harbor.whales]) await world.subscribe({ address: TWICE, channelId });
  await store(TWICE);
  expect(await world.read('status')).not.toContain('missed transfer');
  await store(TWICE);
  expect(await world.read('status')).toContain('2 missed transfers');
});

it('creates the webhook for all events where there is none', async () => {
  const narrow = await lackKind();
  await world.press(await world.use('setup check'), 'webhook:move');
  const created = service.hooks.find(({ eventType }) => eventType === 'ALL')!;
  expect([created.url, [...created.addresses], [...narrow.addresses]]).toEqual([RECEIVER_URL, [TOKENS], []]);
});

it('says what is left to do where the service does not take the addresses out of the other webhooks', async () => {
  service.hook('whole', RECEIVER_URL);
  service.unknown.add('POST /webhook/delete-addresses');
  const narrow = await lackKind();
  const removals = async () => (await world.read('setup audit')).split('Addresses removed').length;
  const before = await removals();
  const reply = textOf(await world.press(await world.use('setup check'), 'webhook:move'));
  expect(reply).toMatch(/Added 1 address[\s\S]*Remove them from the other webhooks with `\/webhook remove`/);
  expect([...narrow.addresses]).toEqual([TOKENS]);
  expect(await removals()).toBe(before);
});

it('moves no address that the manager cannot see', async () => {
  const narrow = await lackKind(harbor.treasury);
  await world.makeManager(seed.mia);
  const posted = await world.post('webhook:move');
  expect(textOf(await world.press(posted, 'webhook:move', { as: seed.mia }))).toContain('already include');
  expect([...narrow.addresses]).toEqual([TOKENS]);
  // What the bot posts is everybody's: a press replaces it for nobody.
  expect(isPrivate(await world.press(posted, 'webhook:move'))).toBe(true);
  expect([...narrow.addresses]).toEqual([]);
  expect(isPrivate(await world.press(await world.post('setup:check'), 'setup:check'))).toBe(true);
});

it('explains what is left to do where the service does not show the IDs of webhooks', async () => {
  await lackKind();
  service.options.showsIds = false;
  const reply = textOf(await world.press(await world.use('setup check'), 'webhook:move'));
  expect(reply).toMatch(/Webhook created[\s\S]*doesn’t show the new webhook’s ID/);
});

it('names a silent service, with a button for the check', async () => {
  service.hook('whole', RECEIVER_URL, [SILENT]);
  await world.subscribe({ address: SILENT });
  await store(SILENT, { isFound: false, ago: 20 * MINUTE });
  await store(SILENT, { count: 2 });
  const reply = await world.use('status');
  expect(textOf(reply)).toMatch(/⚠️ 2 missed transfers.*The notification service is silent: its last event was/);
  expect(textOf(await world.press(reply, 'setup:check'))).toMatch(/❌ 2 missed transfers.*is silent/);
});

it('takes no address that was added to another network’s webhook for the cause', async () => {
  service.hook('whole', RECEIVER_URL, [ADDED]);
  await world.subscribe({ address: ADDED });
  await store(ADDED, { count: 2 });
  world.clock.advance(MINUTE);
  const causeAfter = async (network: number) => {
    const detail = { network, addresses: [ADDED] };
    const entry = { guildId: harbor.id, userId: seed.ada, action: 'webhook.fill', detail };
    await world.store.audit.record({ ...entry, at: world.clock.now() });
    return /^.*2 missed.*$/m.exec(await world.read('status'))![0];
  };
  expect(await causeAfter(1)).not.toContain('Added to a webhook');
  expect(await causeAfter(0)).toContain('Added to a webhook');
});
