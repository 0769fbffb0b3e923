import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_FILTERS, FOREVER, type Subscription } from '../../src/domain/subscription.ts';
import { forFile } from '../for-file.ts';
import { A, B, buttonsOf, isPrivate, LIKE_A, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);
const { bring } = world;
const exported = async (who = {}): Promise<string> => {
  const { reply } = await world.use('subscription export', {}, who);
  return (await fetch(reply!.message.attachments[0]!.url)).text();
};
const preview = async (data: string | Buffer, who = {}) => textOf(await bring(data, who));
const take = async (data: string) => world.press(await bring(data), 'subscription:import');
/** The choices of people, without the fields that change by themselves. */
const chosen = ({ id: _, createdAt: __, createdBy: ___, ...rest }: Subscription) => rest;
const numbered = (n: number) => lower(`0x${(n + 1).toString(16).padStart(40, '0')}`);

const HEAD = 'type,address,channel,label';

describe('/subscription export and import', () => {
  it('restores every field and the address book from an export', async () => {
    const label = '=Treasury, "main"';
    const name = '+Payroll of the whole harbour and its cranes';
    await world.subscribe({
      label,
      direction: 'incoming',
      kind: 'erc20',
      minimum: '0.5',
      token: lower(TOKEN),
      mention: harbor.watchers,
      filters: {
        internal: false,
        cataloged: true,
        zero: true,
        self: true,
        minimums: { native: '2', [lower(TOKEN)]: '3.5' },
        tokens: [lower(TOKEN), 'native'],
        deniedTokens: [lower(B)],
        counterparties: [lower(A), lower(B)],
        deniedCounterparties: [lower(TOKEN)],
      },
      digest: 'hourly',
      quiet: '22:00-07:00',
      mentionMinimum: '10',
      mentionCooldown: 0,
      watchSilence: true,
      showBalance: true,
      warnBelow: `100 ${lower(TOKEN)}`,
    });
    const { id } = await world.subscribe({ channelId: harbor.whales });
    await world.store.subscriptions.change(harbor.id, id, { paused: true, mutedUntil: FOREVER });
    await world.name(B, name);
    const before = (await all()).map(chosen);
    const file = await exported();
    expect(file.split('\r\n')[0]).toMatch(/^type,address,channel,label,direction,/);
    expect(file).toContain(`"'=Treasury, ""main"""`);

    await world.reset();
    const asked = await bring(file);
    expect(asked).toSatisfy(isPrivate);
    expect(textOf(asked)).toContain('balances need a node');
    expect(textOf(asked)).toMatch(
      /2 subscriptions to add[\s\S]*`=Treasury, "main"`\*\* `0x[0-9a-fA-F]{40}` → <#\d+>[\s\S]*1 label to set[\s\S]*Payroll.*`\*\* `0x[0-9a-fA-F]{40}`/,
    );
    expect(await all()).toEqual([]);
    const done = await world.press(asked, 'subscription:import');
    expect(textOf(done)).toMatch(/Imported\n2 subscriptions added\n1 label set/);
    expect((await all()).map(chosen)).toEqual(before);
    const labels = await world.store.labels.list(harbor.id);
    expect(labels.map((one) => [one.address, one.name])).toEqual([
      [lower(B), name],
      [lower(A), label],
    ]);

    const again = await bring(file);
    expect(textOf(again)).toMatch(/Nothing to change\n3 lines are already up to date/);
    expect(buttonsOf(again)).toEqual([]);
  });

  it('warns of an address that could be taken for one that is watched here', async () => {
    await world.subscribe({ label: 'Treasury' });
    const asked = await preview(`address,channel\n${LIKE_A},#alerts\n${B},#alerts\n`);
    expect(asked.split('this is not')).toHaveLength(2);
    expect(asked).toMatch(/Look-alike: this is not Treasury\./);
  });

  it('previews the changes of an import and keeps what the file leaves out', async () => {
    await world.subscribe({ label: 'Treasury', minimum: '5', quiet: '22:00-07:00' });
    await world.subscribe({ channelId: harbor.whales });
    const asked = await bring(`address;channel;minimum;zero\n${A};#alerts;7;yes\n${lower(B)};whales;;\n`);
    expect(textOf(asked)).toMatch(
      /1 subscription to add\*\*\n- `0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE` → <#\d+>\n\*\*1 subscription to change\*\*\n- Treasury → <#\d+>: `minimum`, `zero`/,
    );
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject([
      { label: 'Treasury', minimum: '7', quiet: '22:00-07:00', filters: { ...DEFAULT_FILTERS, zero: true } },
      { label: 'Treasury', minimum: null },
      { address: lower(B), channelId: harbor.whales, filters: DEFAULT_FILTERS },
    ]);
  });

  it('reads a time without a zone as UTC, wherever the bot runs', async () => {
    const { TZ = 'UTC' } = process.env;
    process.env.TZ = 'Asia/Tokyo';
    onTestFinished(() => void Object.assign(process.env, { TZ }));
    const times = ['2030-12-31 22:00', '2030-12-31T22:00:00+02:00', '2030-12-31T22:00+0200', '2030-12-31 9:00'];
    await take(['address,channel,muted-until', ...times.map((time, n) => `${numbered(n)},#alerts,${time}`)].join('\n'));
    const ends = (await all()).map(({ mutedUntil }) => new Date(mutedUntil!).toISOString());
    expect(ends).toEqual(['22', '20', '20', '09'].map((hour) => `2030-12-31T${hour}:00:00.000Z`));
  });

  it('ignores a mute that has ended in an import', async () => {
    const { id } = await world.subscribe();
    await world.store.subscriptions.change(harbor.id, id, { mutedUntil: world.clock.now() - 1 });
    expect(await preview(await exported())).toMatch(/Nothing to change\n1 line is already up to date/);
  });

  it('keeps what somebody else changes during an import, filter by filter', async () => {
    await world.subscribe();
    const asked = await bring(`address,channel,zero\n${A},#alerts,yes\n`);
    await world.use('subscription edit', { subscription: A, cataloged: true });
    await world.press(asked, 'subscription:import');
    expect((await all())[0]!.filters).toEqual({ ...DEFAULT_FILTERS, zero: true, cataloged: true });
  });

  it('exports several files that can be imported when one would be too large', async () => {
    const addresses = Array.from({ length: 50 }, (_, index) => numbered(index));
    const filters = { ...DEFAULT_FILTERS, counterparties: addresses, deniedTokens: addresses };
    for (let index = 0; index < 70; index++) await world.subscribe({ address: numbered(index), filters });
    const answer = await world.use('subscription export');
    expect(textOf(answer)).toMatch(/70 subscriptions\n.*\nThe export is split into 2 files.*one after the other/);
    const { attachments } = answer.reply!.message;
    const names = attachments.map(({ filename }) => filename);
    expect(names).toEqual([1, 2].map((n) => `ledgerbell-subscriptions-${n}.csv`));
    const texts = await Promise.all(attachments.map(async ({ url }) => (await fetch(url)).text()));
    const rows = texts.map((text) => text.trimEnd().split('\r\n').length - 1);
    expect(rows[0]! + rows[1]!).toBe(70);
    for (const [index, text] of texts.entries())
      expect(await preview(text)).toContain(`Nothing to change\n${rows[index]} lines are already up to date`);
  });

  it('reads a file with endless blanks without blocking', async () => {
    const text = `address,channel,minimums\n${A},#alerts,ETH${' '.repeat(200_000)}1`;
    expect(await preview(text)).toMatch(/No token is called `ETH`/);
  });

  it('looks at once for alerts that an edit or an import made due', async () => {
    const woken: string[] = [];
    world.replace({ wake: (targets) => void woken.push(...targets.map(({ channelId }) => channelId)) });
    await world.subscribe({ quiet: '22:00-07:00' });
    await world.use('subscription edit', { subscription: A, quiet: 'off' });
    expect(new Set(woken.splice(0))).toEqual(new Set([harbor.alerts]));
    await take(`address,channel,digest\n${A},#alerts,daily\n`);
    expect(woken).toEqual([harbor.alerts]);
  });

  it('gives an address one name and a name one address, and names the line or address that has it', async () => {
    await world.subscribe({ label: 'Treasury' });
    expect(await preview(`${HEAD}\nsubscription,${B},#alerts,Cold\nlabel,${B},,Hot\n`)).toMatch(
      /Line 3\*\*: A server has one name for an address, and line 2 names this one \*\*Cold\*\*/,
    );
    const taken = await preview(`${HEAD}\nlabel,${B},,TREASURY\n`);
    expect(taken).toMatch(/Line 2\*\*: \*\*TREASURY\*\* is already the name of .*`0xcc95E80D/);
    await take(`${HEAD}\nsubscription,${A},#alerts,\nlabel,${B},,Treasury\n`);
    expect(await world.store.labels.list(harbor.id)).toMatchObject([{ address: lower(B), name: 'Treasury' }]);
    // A row without a name does not take away the one that another row gives.
    await take(`${HEAD}\nsubscription,${A},#alerts,\nlabel,${A},,Cold\n`);
    expect(await all()).toMatchObject([{ label: 'Cold' }]);
  });

  it('shows an import’s columns in their own spelling and its lines, in every language', async () => {
    world.speak('ja');
    const rows = [`${A},#alerts,100,,`, `${B},#alerts,,native,`, `${TOKEN},#alerts,,${A},${B}`];
    const text = await preview(`address,channel,minimums,token,tokens\n${rows.join('\n')}\n${LIKE_A},#alerts,100,,`);
    for (const named of ['`minimums`', '`kind: native`', '`token`', '`tokens`', '2、5']) expect(text).toContain(named);
  });

  it('shows every wrong line of an import and changes nothing', async () => {
    const wrong: [string, RegExp][] = [
      [`subscription,${A.replace('cc95E', 'Cc95E')},#alerts,,,,`, /EIP-55/],
      [`subscription,0x${'0'.repeat(40)},#alerts,,,,`, /zero address/],
      [`subscription,${B},#alerts,,22-7,,`, /`22:00-07:00`/],
      [`subscription,0x${'1'.repeat(40)},#alerts,,,PEPE=1,`, /No token is called `PEPE`/],
      [`subscription,${lower(A)},<#${harbor.alerts}>,,,,`, /same address and channel as line 2/],
      [`label,${B},,free-mint.xyz,,,`, /looks like a link/],
      [`wallet,${B},#alerts,,,,`, /You entered `wallet`.* `type` must be/],
      [`subscription,${TOKEN},#alerts,,,,perhaps`, /You entered `perhaps`.* `paused` must be/],
      [`subscription,${TOKEN},#alerts,a,b,c,d,e`, /more cells than there are columns/],
      [`subscription,${TOKEN},#council,,,,`, /missing \*\*View Channel/],
      [`subscription,${B},${orchid.lobby},,,,`, /There is no such channel/],
    ];
    const rows = [
      `subscription,${A},#alerts,Treasury,,,`,
      ...wrong.map(([row]) => row),
      `subscription,${B},#nowhere,,,,`,
      `subscription,${B},#nowhere,,,,`,
    ];
    const answer = await bring(`${HEAD},quiet,minimums,paused\n${rows.join('\n')}`);
    const text = textOf(answer);
    for (const [index, [, { source }]] of wrong.entries())
      expect(text).toMatch(new RegExp(`Line ${index + 3}\\*\\*: .*${source}`));
    expect(text).toMatch(/Lines 14, 15\*\*: You entered `#nowhere`\. There is no such channel/);
    expect(text).toMatch(/13 lines can’t be imported[\s\S]*Nothing changed/);
    expect(buttonsOf(answer)).toEqual([]);
    expect(await all()).toEqual([]);
  });

  it('refuses an import with an invalid role, mention interval or end of a mute', async () => {
    const times = ['soon', '2030-13-45 22:00', '2030-02-30', '2030-12-31 10:00 PM', '31.12.2030 22:00'];
    const rows = ['1100000000000088888,,', `${harbor.id},,`, ',10081,', ',soon,', ...times.map((time) => `,,${time}`)];
    const lines = rows.map((row, n) => `${numbered(n)},#alerts,${row}`).join('\n');
    const text = await preview(`address,channel,mention,mention-cooldown,muted-until\n${lines}`);
    for (const sentence of [
      /Line 2\*\*: You entered `1100000000000088888`\. That isn’t a role of this server/,
      /Line 3\*\*: .* I never ping @everyone/,
      /Line 4\*\*: .* The time between two pings .* from 0 to `10080`/,
      /Line 10\*\*: .* `muted-until` must be a time like/,
    ])
      expect(text).toMatch(sentence);
  });

  it('shows the first of many rows of an import and counts the others', async () => {
    const many = Array.from({ length: 30 }, (_, n) => n);
    const asked = await preview(`address,channel\n${many.map((n) => `${numbered(n)},#alerts`).join('\n')}`);
    const listed = many.filter((n) => asked.toLowerCase().includes(numbered(n))).length;
    expect(asked).toMatch(/^.*30 subscriptions to add/m);
    expect(asked).toContain(`${30 - listed} more`);
    const wrong = await preview(`address,minimums\n${many.map((n) => `${numbered(n)},COIN${n}=1`).join('\n')}`);
    const named = wrong.split('Line ').length - 1;
    expect(wrong).toMatch(/30 lines can’t be imported/);
    expect(wrong).toContain(`${30 - named} more`);
  });

  it('shows a fault that many lines share once, with the lines', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, n) => `${n === 9 ? 'mine' : numbered(n)},#${n < 19 || n % 2 ? 'nowhere' : 'alerts'}`,
    );
    const wrong = await preview(`address,channel\n${rows.join('\n')}`);
    expect(wrong).toMatch(/^.*30 lines can’t be imported/m);
    expect(wrong).toMatch(/^\*\*Line 11\*\*: You entered `mine`\. An address is/m);
    expect(wrong).toMatch(/^\*\*Lines 2, 3, 4, 5, 6, 7, 8, 9, …and 21 more\*\*: .*There is no such channel/m);
    expect(wrong.split('There is no such channel')).toHaveLength(2);
  });

  it.each<[RegExp, string | Buffer]>([
    [/no column `chanel`.*Did you mean `channel`/, `address,chanel\n${A},x`],
    [/You entered `incomming`.* must be one of.*Did you mean `incoming`/, `address,direction\n${A},incomming`],
    [/`label` appears twice/, `address,label,label\n${A},x,y`],
    [/first line must contain the column names/, `${A},#alerts`],
    [/first line must contain the column names/, ''],
    [/Line 2.*never closed/, `address\n"${A}`],
    [/spreadsheet’s own format, such as `\.xlsx`.*CSV \(UTF-8\)/, Buffer.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe])],
    [/isn’t a text file.*CSV \(UTF-8\)/, Buffer.from([0x41, 0xff, 0x01])],
    [/larger than 256 KiB/, 'a'.repeat(256 * 1024 + 1)],
  ])('refuses a file, with the reason: %s', async (reason, data) => {
    expect(await preview(data)).toMatch(reason);
  });

  it('imports no more subscriptions than a server may have', async () => {
    world.configure({ maxSubscriptions: 2 });
    const file = `address,channel\n${A},#alerts\n${B},#alerts\n`;
    expect(await preview(`${file}${TOKEN},#alerts\n`)).toMatch(/limit of 2 subscriptions/);
    const asked = await bring(file);
    await world.subscribe({ channelId: harbor.whales });
    expect(textOf(await world.press(asked, 'subscription:import'))).toMatch(/limit of 2 subscriptions/);
    expect(await all()).toHaveLength(1);
  });

  it.each<[string, (id: number) => Promise<unknown>]>([
    ['added a new one', () => world.subscribe({ address: lower(B) })],
    ['removed one to change', (id) => world.store.subscriptions.remove(harbor.id, id)],
  ])('imports nothing when somebody else %s since the preview', async (_, meanwhile) => {
    const { id } = await world.subscribe();
    const asked = await bring(`address,channel,zero\n${B},#alerts,yes\n${A},#alerts,yes\n`);
    await meanwhile(id);
    const before = await all();
    expect(textOf(await world.press(asked, 'subscription:import'))).toMatch(/changed after the preview/);
    expect(await all()).toEqual(before);
  });

  it('names the address that would be watched in too many channels, with its line', async () => {
    world.configure({ maxChannelsPerAddress: 2 });
    await world.subscribe();
    const file = `address,channel\n${A},#announcements\n`;
    const asked = await bring(file);
    const over = new RegExp(`Line 3\\*\\*: .*\`${A}\`.* would be watched in more than 2 channels`);
    expect(await preview(`${file}${A},#whales\n`)).toMatch(over);
    await world.subscribe({ channelId: harbor.whales });
    expect(textOf(await world.press(asked, 'subscription:import'))).toMatch(/changed after the preview/);
    expect(await all()).toHaveLength(2);
  });

  it('accepts an import’s confirmation in time, also after a restart', async () => {
    const asked = await bring(`address,channel\n${A},#alerts\n`);
    await world.restart();
    expect(textOf(await world.press(asked, 'subscription:import'))).toContain('1 subscription added');
    expect(await all()).toMatchObject([{ address: lower(A), createdBy: seed.ada }]);

    const file = `address,channel\n${B},#alerts\n`;
    expect(textOf(await world.press(await bring(file), 'subscription:discard'))).toContain('Nothing changed');
    const old = await bring(file);
    world.clock.advance(16 * 60_000);
    expect(textOf(await world.press(old, 'subscription:import'))).toMatch(/it expired/);
    expect(await all()).toHaveLength(1);
  });

  it('keeps minimums in dollars where there are no prices, and reports that they have no effect', async () => {
    await world.subscribe();
    expect(await exported()).not.toContain('-usd');
    const asked = await bring(`address,channel,minimum-usd,mention-minimum-usd\n${B},<#${harbor.alerts}>,$100,2500`);
    expect(textOf(asked)).toMatch(/minimums in dollars have no effect/);
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject([{ minimumUsd: null }, { minimumUsd: '100', mentionMinimumUsd: '2500' }]);
    expect(await exported()).toMatch(/,minimum-usd,.*,mention-minimum-usd,[\s\S]*,100,.*,2500,/);
  });

  it('exports and imports nothing of other servers', async () => {
    await world.subscribe({ label: 'Secret' });
    expect(await world.read('subscription export', {}, { in: orchid.lobby })).toMatch(/nothing to export/);
  });

  it('exports only what a manager can see, and lets nobody else change a row', async () => {
    await world.subscribe({ channelId: harbor.treasury, label: 'Secret' });
    const open = await world.subscribe({ address: lower(B), label: 'Open' });
    await world.makeManager(seed.noa);
    const who = { as: seed.noa };
    const file = await exported(who);
    expect(file).toContain('Open');
    expect(file).not.toContain(harbor.treasury);
    const left = /1 subscription in a channel that you can’t see is not included/;
    expect(await world.read('subscription export', {}, who)).toMatch(left);
    await world.store.subscriptions.remove(harbor.id, open.id);
    expect(await world.read('subscription export', {}, who)).toMatch(left);
    const before = await all();
    const row = `address,channel,paused\n${A},<#${harbor.treasury}>,yes\n`;
    const refused = await preview(row, who);
    expect(refused).toMatch(/Line 2.*can’t see that channel/i);
    expect(refused).not.toContain('Secret');
    expect(await all()).toEqual(before);
    expect(await preview(row)).toContain('Secret');
  });
});
