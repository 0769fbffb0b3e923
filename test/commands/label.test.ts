import { afterEach, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { ALICE, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { storeTransfers } from './stored.ts';
import { A, B, isPrivate, LIKE_A, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { id: HARBOR } = seed.harbor;
const world = await forFile(startWorld());
afterEach(() => world.services.eraseGuild(HARBOR));

const set = (address: string, name: string) => world.read('label set', { address, name });
const remove = (address: string) => world.use('label remove', { address });
const labels = async () => (await world.store.labels.list(HARBOR)).map(({ address, name }) => [address, name]);
const offered = async (command: string, option: string, typed = '') =>
  (await world.choices(command, option, { [option]: typed })).map(({ name }) => name);

it('names and renames an address, and records who did it', async () => {
  const named = await world.use('label set', { address: A, name: '  Payroll\u200b (July) ' });
  expect(named).toSatisfy(isPrivate);
  expect(textOf(named)).toMatch(new RegExp(`Payroll \\(July\\)[^]*${A}`));
  expect(await set(lower(A), 'Payroll')).toMatch(/It was called \*\*Payroll \(July\)\*\* before/);
  expect(await labels()).toEqual([[lower(A), 'Payroll']]);
  expect(await world.store.labels.list(seed.orchid.id)).toEqual([]);
  const { entries } = await world.store.audit.page(HARBOR, 0, 10);
  expect(entries).toMatchObject(
    [
      { name: 'Payroll', before: 'Payroll (July)' },
      { name: 'Payroll (July)', before: null },
    ].map((named) => ({ userId: seed.ada, action: 'label.set', detail: { address: A, ...named } })),
  );
});

it('warns when a labeled address could be mistaken for another known one', async () => {
  await set(A, 'Payroll');
  const warned = await set(LIKE_A, 'Payroll 2');
  expect(warned).toMatch(/Look-alike: this is not Payroll\.[\s\S]*`…00000000…` is not `…E80DA76b…`/);
  expect(warned).toContain(`-# \`${LIKE_A}\`\n-# \`${A}\``);
  expect(await set(B, 'Vendor')).not.toContain('Look-alike');
});

it('takes an ENS name, and shows any name without its Markdown', async () => {
  expect(await set(A, 'pay.treasury.eth')).toContain('🏷️ pay.treasury.eth\n');
  await set(TOKEN, '*Coin*');
  const list = await world.read('label list');
  for (const part of ['pay.treasury.eth', '**`*Coin*`**']) expect(list).toContain(part);
  expect(await world.read('subscription add', { address: B, label: 'vitalik.eth' })).toContain('vitalik.eth');
});

it.each([
  ['\u200b\u2800', /no visible characters/],
  ['https://vitalik.eth', /looks like a link/],
  ['claim-now.example', /You entered `claim-now.example`.*looks like a link/],
  ['x'.repeat(61), /at most 60 characters/],
])('refuses the name %j', async (name, reason) => {
  expect(await set(A, name)).toMatch(reason);
  expect(await labels()).toEqual([]);
});

it('asks before it removes a name, by address or by name, and removes it once', async () => {
  await set(A, 'Payroll');
  await set(B, 'Vendor');
  const asked = await remove('payroll');
  await world.subscribe({ address: lower(B) });
  const named = await remove(B);
  for (const question of [asked, named]) expect(textOf(question)).toContain('the bare address');
  expect(textOf(await world.press(named, 'label:keep'))).toMatch(/Nothing changed/);
  expect(await labels()).toHaveLength(2);
  expect(textOf(await world.press(asked, 'label:drop'))).toMatch(/Removed the label Payroll$/m);
  expect(await labels()).toEqual([[lower(B), 'Vendor']]);
  const late = await world.press(await world.post(`label:drop:${A}`), 'label:drop');
  expect(textOf(late)).toMatch(/already removed this label/);
  for (const [address, sentence] of [
    [A, /has no label/],
    [`https://explorer.example/address/${B}`, /Remove the label Vendor\?/],
    [`https://explorer.example/token/${TOKEN}?a=${B}`, /several addresses\. Paste only the one/],
    ['nobody', /`nobody`.*No address has that name/],
    ['Vendro', /`Vendro`.*No address has that name.*Did you mean `Vendor`\?/],
  ] as const)
    expect(textOf(await remove(address))).toMatch(sentence);
});

it('keeps one name for an address and one address for a name, whichever command names it', async () => {
  const taken = /\*\*treasury\*\* is already the name of .*`0xcc95E80D.*Choose another name/;
  const add = (options: object) => world.read('subscription add', { ...options });
  await add({ address: A, label: 'Treasury' });
  expect(await set(B, 'treasury')).toMatch(taken);
  expect(await add({ address: B, label: 'treasury' })).toMatch(taken);
  await add({ address: B });
  expect(await world.read('subscription edit', { subscription: B, label: 'treasury' })).toMatch(taken);
  expect(await labels()).toEqual([[lower(A), 'Treasury']]);

  await set(A, 'Cold');
  expect(await world.read('subscription list')).toContain('**Cold · ');
  const elsewhere = { address: A, channel: seed.harbor.whales, label: 'Vault' };
  expect(await add(elsewhere)).toContain('It was called **Cold** before');
  expect((await world.read('subscription list')).match(/Vault|Cold/g)).toEqual(['Vault', 'Vault']);
});

it('removes only the name in the question, not one that the address got since', async () => {
  await set(A, 'Payroll');
  const asked = await remove(A);
  await set(A, 'Vendor');
  const again = await world.press(asked, 'label:drop');
  expect(textOf(again)).toContain('Remove the label Vendor?');
  expect(await labels()).toHaveLength(1);
  expect(textOf(await world.press(again, 'label:drop'))).toContain('Removed the label Vendor');
  expect(await labels()).toEqual([]);
});

it('lists every name in pages, also after a restart, and refuses more than 1,000', async () => {
  expect(await world.read('label list')).toMatch(/No labels yet/);
  const addressOf = (n: number) => lower(`0x${n.toString(16).padStart(40, '0')}`);
  const all = Array.from({ length: 1_000 }, (_, n) => ({ address: addressOf(n + 1), name: `Name ${n + 1}` }));
  const list = { guildId: HARBOR, userId: seed.ada, added: [], changed: [], labels: all, at: 0 };
  await world.store.subscriptions.importAll(list, { subscriptions: 0, labels: 1_000 });
  expect(await set(A, 'One more')).toMatch(/limit of 1,000 labels/);
  expect(await set(addressOf(1), 'Renamed')).toMatch(/It was called \*\*Name 1\*\* before/);
  const first = await world.use('label list');
  expect(textOf(first)).toMatch(/1,000 labels[\s\S]*Page 1 of 84/);
  await world.restart();
  expect(textOf(await world.press(first, 'label:list:1'))).toMatch(/Page 2 of 84/);
});

it('shows a new name in the last day’s alerts, and removes it from them', async () => {
  const { pipeline } = world;
  await pipeline.watch(TREASURY, WHALES);
  await pipeline.receive(payment());
  await pipeline.idle();
  const line = () => pipeline.alerts(WHALES)[0]!.text;
  expect(line()).not.toContain('Alice’s wallet');
  const named = await set(ALICE, 'Alice’s wallet');
  expect(named).toContain('1 message from the last day that shows it is being updated too.');
  await pipeline.turnUntil('the alert shows the label', () => line().includes('Alice’s wallet'));
  const gone = await world.press(await remove(ALICE), 'label:drop');
  expect(textOf(gone)).toContain('1 message from the last day');
  await pipeline.turnUntil('the alert no longer shows the label', () => !line().includes('Alice’s wallet'));
});

it('offers watched and labeled addresses for a new name, and only labeled ones for removal', async () => {
  await world.subscribe({ label: 'Treasury' });
  await set(TOKEN, 'Our coin');
  const [coin, treasury] = ['Our coin · 0x5Df2…3f0D', 'Treasury · 0xcc95…6430'];
  expect(await offered('label set', 'address')).toEqual([coin, treasury]);
  expect(await offered('label remove', 'address')).toEqual([coin, treasury]);
  expect(await offered('label set', 'address', 'treas')).toEqual([treasury]);
  // Then whom its addresses met, and nobody else's.
  const [own, foreign] = [`0x${'3'.repeat(40)}`, `0x${'4'.repeat(40)}`] as const;
  const met = { from: own, to: own };
  await storeTransfers(world.store, world.clock.now(), [met, { from: foreign, to: foreign, guilds: [seed.orchid.id] }]);
  expect((await world.choices('label set', 'address', {})).slice(2).map(({ value }) => value)).toEqual([own]);
});
