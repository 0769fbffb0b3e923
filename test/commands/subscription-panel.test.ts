import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { A, B, buttonsOf, type CommandWorld, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
afterEach(() => world.reset());
const add = (options: Record<string, string> = {}) => world.use('subscription add', { address: A, ...options });
const only = async () => (await world.store.subscriptions.list(harbor.id))[0]!;
const FORMS = ['filters', 'lists', 'pings', 'schedule'];

describe('/subscription add', () => {
  it('offers eight options and a preset for a new or an edited subscription', () => {
    const { options = [] } = commands.find(({ data }) => data.name === 'subscription')!.data.toJSON() as {
      options?: { name: string; options?: { name: string }[] }[];
    };
    const namesOf = (name: string) => options.find((one) => one.name === name)!.options!.map((one) => one.name);
    const eight = ['address', 'channel', 'label', 'direction', 'kind', 'minimum', 'token', 'mention'];
    expect(namesOf('add')).toEqual([...eight, 'preset']);
    expect(namesOf('edit').slice(0, 9)).toEqual(['subscription', ...eight.slice(1), 'preset']);
    expect(namesOf('edit').length).toBeLessThanOrEqual(25);
  });

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

  it('replies with the buttons of the panel', async () => {
    const { id } = (await add().then(async (shown) => ({ shown, ...(await only()) })))!;
    const shown = await world.use('subscription edit', { subscription: String(id) });
    expect(buttonsOf(shown)).toEqual(FORMS.map((form) => `subscription:${form}:${id}`));
  });
});

describe('the panel', () => {
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
    expect(textOf(asked)).toContain('Not saved yet. Changes: `direction`, `kind`, `minimum`, `internal`, `zero`');
    expect(await only()).toMatchObject({ direction: 'any', kind: 'any', minimum: null });
    const saved = await world.press(asked, 'subscription:save');
    expect(textOf(saved)).toContain('Changed');
    expect(buttonsOf(saved)).toHaveLength(FORMS.length);
    expect(await only()).toMatchObject({
      direction: 'outgoing',
      kind: 'erc20',
      minimum: '10',
      filters: { zero: true, internal: false, self: false },
    });
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
      filters: { minimums: { [lower(TOKEN)]: '5' }, deniedCounterparties: [lower(B)] },
    });
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

  it('refuses an invalid text and keeps the panel', async () => {
    const refused = await world.fillFrom(await add(), 'subscription:schedule', { quiet: 'at night' });
    expect(refused.followups.map(({ message }) => message.content).join()).toContain('at night');
    expect(textOf({ reply: refused.reply, followups: [] })).toContain('Watching');
  });

  it('opens the panel only for managers who see the channel', async () => {
    await add({ channel: harbor.treasury });
    const { id } = await only();
    const button = await world.post(`subscription:filters:${id}`);
    expect(textOf(await world.press(button, 'subscription:filters', { as: seed.noa }))).toContain('Manage Server');
    await world.makeManager(seed.noa);
    expect(textOf(await world.press(button, 'subscription:filters', { as: seed.noa }))).toContain('already removed');
  });
});
