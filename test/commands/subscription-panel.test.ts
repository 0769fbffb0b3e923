import { afterEach, describe, expect, it } from 'vitest';
import { FORMS as FIELDS_OF } from '../../commands/subscription/panel.ts';
import { translator } from '../../src/languages/index.ts';
import { forFile } from '../for-file.ts';
import { storeToken } from './stored.ts';
import { A, B, buttonsOf, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
// Nothing listens there, which the panel does not need.
const world = await forFile(startWorld({ environment: { RPC_URL: 'http://127.0.0.1:9' } }));
afterEach(() => world.reset());
const add = (options: Record<string, string> = {}) => world.use('subscription add', { address: A, ...options });
const only = async () => (await world.store.subscriptions.list(harbor.id))[0]!;
const FORMS = ['filters', 'lists', 'pings', 'schedule', 'balance'];

describe('/subscription add', () => {
  it.each([
    ['everything', { kind: 'any', filters: { zero: true, self: true, internal: true } }],
    ['large', { minimum: '1000', filters: { minimums: { native: '1' } } }],
    ['nfts', { kind: 'nft' }],
    ['spam-safe', { filters: { cataloged: true, zero: false } }],
  ])('accepts the preset %s of a subscription', async (preset, expected) => {
    await add({ preset });
    expect(await only()).toMatchObject(expected);
  });

  it('lets other options override the preset', async () => {
    await add({ preset: 'large', minimum: '5' });
    expect(await only()).toMatchObject({ minimum: '5', filters: { minimums: { native: '1' } } });
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
    const shown = await world.use('subscription edit', { subscription: String(id) });
    const opened = await world.openFrom(shown, 'subscription:filters');
    const fields = JSON.stringify(opened.modal);
    expect(fields).toContain('"value":"2.5"');
    expect(fields).toContain('"value":"incoming","default":true');
    expect(fields).toContain('"value":"zero","default":true');
    expect(fields).toContain('"value":"self","default":false');
    expect(JSON.stringify((await world.openFrom(shown, 'subscription:pings')).modal)).toContain(harbor.watchers);
  });

  it('shows a dry run and saves nothing until Save is pressed', async () => {
    const asked = await world.fillFrom(await add(), 'subscription:filters', {
      direction: ['outgoing'],
      kind: ['erc20'],
      minimum: '10',
      include: ['zero'],
    });
    expect(textOf(asked)).toContain('Dry run');
    expect(textOf(asked)).toContain(
      'Not saved yet. Changes: Direction · Kind of transfer · Minimum amount, in token units · Include internal transfers of contracts · Include zero amounts',
    );
    expect(await only()).toMatchObject({ direction: 'any', kind: 'any', minimum: null });
    const saved = await world.press(asked, 'subscription:save');
    expect(textOf(saved)).toContain('Changed');
    expect(buttonsOf(saved)).toEqual(FORMS.map((form) => expect.stringContaining(`subscription:${form}:`)));
    expect(await only()).toMatchObject({
      direction: 'outgoing',
      kind: 'erc20',
      minimum: '10',
      filters: { zero: true, internal: false, self: false },
    });
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
    const shown = await add();
    const forms: [string, Record<string, string | string[]>][] = [
      ['lists', { minimums: `${TOKEN}=5`, 'exclude-counterparties': B }],
      ['pings', { mention: [harbor.watchers], 'mention-minimum': '7', 'mention-cooldown': '30' }],
      ['schedule', { digest: ['daily'], quiet: '22:00-07:00', silence: ['yes'], style: ['full'] }],
      ['balance', { balance: ['yes'], 'warn-below': `100 ${TOKEN}` }],
    ];
    let panel: Parameters<typeof world.fillFrom>[0] = shown;
    for (const [form, values] of forms) {
      panel = await world.press(await world.fillFrom(panel, `subscription:${form}`, values), 'subscription:save');
    }
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
    await world.press(await world.fillFrom(panel, 'subscription:balance', { 'warn-below': '0' }), 'subscription:save');
    expect((await only()).warnBelow).toBeNull();
  });

  it('accepts what each text field shows as an example', async () => {
    world.configure({ hasPrices: true });
    for (const [index, symbol] of ['USDC', 'ETH'].entries())
      await storeToken(world.store, `0x${String(index + 1).repeat(40)}`, symbol, true);
    await add();
    const examples = Object.entries(FIELDS_OF).flatMap(([form, controls]) =>
      controls.flatMap((one) => (one.kind === 'text' && !one.example!.includes('0x') ? [{ form, ...one }] : [])),
    );
    expect(examples.length).toBeGreaterThan(6);
    for (const { form, option, example } of examples) {
      const shown = await world.use('subscription edit', { subscription: A });
      const sent = await world.fillFrom(shown, `subscription:${form}`, { [option]: example! });
      expect([option, JSON.stringify(sent.followups)]).toEqual([option, '[]']);
    }
  });

  it('keeps what somebody else changed since the form was opened', async () => {
    const shown = await add();
    const { id } = await only();
    const asked = await world.fillFrom(shown, 'subscription:schedule', { digest: ['hourly'] });
    await world.store.subscriptions.change(harbor.id, id, { minimum: '3' });
    await world.press(asked, 'subscription:save');
    expect(await only()).toMatchObject({ digest: 'hourly', minimum: '3' });
  });

  it('clears emptied fields, and reports when nothing changed', async () => {
    const shown = await add({ minimum: '3' });
    expect(textOf(await world.fillFrom(shown, 'subscription:filters', {}))).toContain('Nothing changed');
    const emptied = await world.fillFrom(
      await world.use('subscription edit', { subscription: A }),
      'subscription:filters',
      {
        minimum: '',
        direction: ['any'],
        kind: ['any'],
        include: ['internal'],
      },
    );
    await world.press(emptied, 'subscription:save');
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
    'names the field of the form %s that it refuses, in the person’s language',
    async (form, fields) => {
      world.configure({ hasPrices: true });
      const t = translator('de');
      const shown = await add();
      world.speak('de');
      for (const field of fields) {
        if (field.kind !== 'text') continue;
        const typed = { [field.option]: '0x99999'.slice(0, field.max) };
        const refused = await world.fillFrom(shown, `subscription:${form}`, typed);
        expect(refused.followups.at(-1)?.message.content).toContain(
          t(`subscription.form.${field.option as 'minimum'}`),
        );
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
