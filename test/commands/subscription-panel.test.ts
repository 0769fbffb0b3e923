import { afterEach, describe, expect, it } from 'vitest';
import { FORMS as FIELDS_OF } from '../../commands/subscription/panel.ts';
import { DEFAULT_CHOICES } from '../../src/domain/subscription.ts';
import { translator } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { storeToken } from './stored.ts';
import { A, B, buttonsOf, lower, type Shown, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
// Nothing listens there, which the panel does not need.
const world = await forFile(startWorld({ environment: { RPC_URL: 'http://127.0.0.1:9' } }));
afterEach(() => world.reset());
const add = (options: Record<string, string> = {}) => world.use('subscription add', { address: A, ...options });
const only = async () => (await world.store.subscriptions.list(harbor.id))[0]!;
const panel = () => world.use('subscription edit', { subscription: A });
const FORMS = ['filters', 'lists', 'pings', 'schedule', 'balance'];

describe('/subscription add', () => {
  it.each([
    [{ preset: 'everything' }, { kind: 'any', filters: { zero: true, self: true, internal: true } }],
    [{ preset: 'large' }, { minimum: '1000', filters: { minimums: { native: '1' } } }],
    [
      { preset: 'large', minimum: '5' },
      { minimum: '5', filters: { minimums: { native: '1' } } },
    ],
    [{ preset: 'nfts' }, { kind: 'nft' }],
    [{ preset: 'spam-safe' }, { filters: { cataloged: true, zero: false } }],
  ])('accepts a preset, which other options override: %o', async (options, expected) => {
    await add(options);
    expect(await only()).toMatchObject(expected);
  });
});

describe('the panel', () => {
  it('offers balances only where a node is set up', async () => {
    const networks = world.services.settings.networks.map((one) => ({ ...one, hasNode: false }));
    world.configure({ networks });
    expect(buttonsOf(await add()).join()).not.toContain(':balance:');
  });

  it('opens the panel’s forms with the current choices', async () => {
    await add({ direction: 'incoming', minimum: '2.5' });
    const { id } = await only();
    await world.store.subscriptions.change(harbor.id, id, { filters: { zero: true }, mention: harbor.watchers });
    const shown = await panel();
    const fieldsOf = async (form: string) =>
      JSON.stringify((await world.openFrom(shown, `subscription:${form}`)).modal);
    for (const part of [
      '"value":"2.5"',
      '"value":"incoming","default":true',
      '"value":"zero","default":true',
      '"value":"self","default":false',
    ])
      expect(await fieldsOf('filters')).toContain(part);
    expect(await fieldsOf('pings')).toContain(harbor.watchers);
  });

  it('shows a dry run and saves nothing until Save is pressed', async () => {
    const chosen = { direction: 'outgoing', kind: 'erc20', minimum: '10' };
    const typed = { ...chosen, direction: ['outgoing'], kind: ['erc20'], include: ['zero'] };
    const asked = await world.fillFrom(await add(), 'subscription:filters', typed);
    const changes =
      'Direction · Kind of transfer · Minimum amount, in token units · Include internal transfers of contracts · Include zero amounts';
    for (const part of ['Dry run', `Not saved yet. Changes: ${changes}`]) expect(textOf(asked)).toContain(part);
    expect(await only()).toMatchObject(DEFAULT_CHOICES);
    const saved = await world.press(asked, 'subscription:save');
    expect(textOf(saved)).toContain('Changed');
    expect(buttonsOf(saved)).toEqual(FORMS.map((form) => expect.stringContaining(`subscription:${form}:`)));
    expect(await only()).toMatchObject({ ...chosen, filters: { zero: true, internal: false, self: false } });
  });

  it('names a refused choice as the form does', async () => {
    const shown = await add();
    const refused = async (kind: string, more: Record<string, string>) =>
      JSON.stringify((await world.fillFrom(shown, 'subscription:filters', { kind: [kind], ...more })).followups);
    expect(await refused('nft', { minimum: '2' })).toContain('`Kind of transfer: NFTs`');
    world.speak('de');
    expect(await refused('any', { token: 'native' })).toMatch(/`[^`]*: native Coins`/);
  });

  it('saves no form on Cancel, and returns to the panel', async () => {
    const asked = await world.fillFrom(await add(), 'subscription:pings', { mention: [harbor.watchers] });
    const kept = await world.press(asked, 'subscription:revert');
    expect(textOf(kept)).toContain('Nothing changed');
    expect(buttonsOf(kept)).toHaveLength(FORMS.length);
    expect((await only()).mention).toBeNull();
  });

  it('accepts lists, pings and the schedule in the panel’s forms', async () => {
    let shown: Shown = await add();
    const save = async (form: string, values: Record<string, string | string[]>) => {
      shown = await world.press(await world.fillFrom(shown, `subscription:${form}`, values), 'subscription:save');
    };
    await save('lists', { minimums: `${TOKEN}=5`, 'exclude-counterparties': B });
    await save('pings', { mention: [harbor.watchers], 'mention-minimum': '7', 'mention-cooldown': '30' });
    await save('schedule', { digest: ['daily'], quiet: '22:00-07:00', silence: ['yes'], style: ['full'] });
    await save('balance', { balance: ['yes'], 'warn-below': `100 ${TOKEN}` });
    expect(await only()).toMatchObject({
      mention: harbor.watchers,
      mentionMinimum: '7',
      mentionCooldown: 30,
      digest: 'daily',
      quiet: '22:00-07:00',
      watchSilence: true,
      style: 'full',
      showBalance: true,
      warnBelow: `100 ${lower(TOKEN)}`,
      filters: { minimums: { [lower(TOKEN)]: '5' }, deniedCounterparties: [lower(B)] },
    });
    // No balance is below 0.
    await save('balance', { 'warn-below': '0' });
    expect((await only()).warnBelow).toBeNull();
  });

  it('accepts what each text field shows as an example', async () => {
    world.configure({ hasPrices: true });
    for (const [index, symbol] of ['USDC', 'ETH'].entries())
      await storeToken(world.store, `0x${String(index + 1).repeat(40)}`, symbol, true);
    await add();
    let count = 0;
    for (const [form, controls] of Object.entries(FIELDS_OF))
      for (const one of controls) {
        if (one.kind !== 'text' || one.example!.includes('0x')) continue;
        const sent = await world.fillFrom(await panel(), `subscription:${form}`, { [one.option]: one.example! });
        expect([one.option, sent.followups]).toEqual([one.option, []]);
        count++;
      }
    expect(count).toBeGreaterThan(6);
  });

  it('keeps what somebody else changed since the form was opened', async () => {
    const asked = await world.fillFrom(await add(), 'subscription:schedule', { digest: ['hourly'] });
    await world.store.subscriptions.change(harbor.id, (await only()).id, { minimum: '3' });
    await world.press(asked, 'subscription:save');
    expect(await only()).toMatchObject({ digest: 'hourly', minimum: '3' });
  });

  it('clears emptied fields, and reports when nothing changed', async () => {
    const shown = await add({ minimum: '3' });
    expect(textOf(await world.fillFrom(shown, 'subscription:filters', {}))).toContain('Nothing changed');
    const emptied = { minimum: '', direction: ['any'], kind: ['any'], include: ['internal'] };
    const asked = await world.fillFrom(await panel(), 'subscription:filters', emptied);
    await world.press(asked, 'subscription:save');
    expect((await only()).minimum).toBeNull();
  });

  it('refuses an invalid text by its label, keeps the panel, and opens the form again as it was filled in', async () => {
    const typed = { direction: ['outgoing'], minimum: 'ten', token: 'USDC', include: ['zero'] };
    const refused = await world.fillFrom(await add(), 'subscription:filters', typed);
    expect(textOf({ reply: refused.reply, followups: [] })).toContain('Watching');
    const [followup] = refused.followups;
    expect(followup!.message.content).toMatch(/entered `ten`.*`Minimum amount, in token units`/);
    const shown = { reply: followup!, followups: [] };
    const again = await world.openFrom(shown, 'again');
    const fields = JSON.stringify(again.modal);
    for (const part of ['"value":"ten"', '"value":"outgoing","default":true', '"value":"zero","default":true'])
      expect(fields).toContain(part);
    expect(fields).toContain('"value":"internal","default":false');
    const asked = await world.fillFrom(shown, 'again', { token: '', minimum: '10' });
    await world.press(asked, 'subscription:save');
    expect(await only()).toMatchObject({ direction: 'outgoing', minimum: '10', filters: { zero: true } });
  });

  it.each(Object.entries(FIELDS_OF))(
    'names the field of the form %s that it refuses, in German',
    async (form, fields) => {
      world.configure({ hasPrices: true });
      const t = translator('de');
      const shown = await add();
      world.speak('de');
      for (const field of fields) {
        if (field.kind !== 'text') continue;
        const typed = { [field.option]: '0x99999'.slice(0, field.max) };
        const refused = await world.fillFrom(shown, `subscription:${form}`, typed);
        const label = t(`subscription.form.${field.option as 'minimum'}`);
        expect(refused.followups.at(-1)?.message.content).toContain(label);
      }
    },
  );

  it('opens the panel only for managers who see the channel', async () => {
    await add({ channel: harbor.treasury });
    const { id } = await only();
    const button = await world.post(`subscription:filters:${id}`);
    await world.makeManager(seed.noa);
    expect(textOf(await world.press(button, 'subscription:filters', { as: seed.noa }))).toContain('already removed');
  });
});
