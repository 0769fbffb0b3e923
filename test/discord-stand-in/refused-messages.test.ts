import { beforeEach, describe, expect, it } from 'vitest';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { forFile } from '../for-file.ts';
import { atLimit, type Case, call, codeAt, type Limit, refusal, standIn } from './bot.ts';

const text = (length: number) => 'x'.repeat(length);
const embed = (more: object) => ({ embeds: [{ description: 'd', ...more }] });
const embeds = (count: number) => ({ embeds: Array(count).fill({ title: 't' }) });
const described = (...lengths: number[]) => ({ embeds: lengths.map((length) => ({ description: text(length) })) });
const field = (name: string, value: string) => embed({ fields: [{ name, value }] });
const fields = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `${index}`, value: 'v' }));
const content = (...components: object[]) => ({ content: 'x', components });
const row = (...components: object[]) => ({ type: 1, components });
const button = (more: object) => ({ type: 2, style: 1, label: 'Go', custom_id: 'a', ...more });
const buttons = (count: number) => Array.from({ length: count }, (_, index) => button({ custom_id: `b${index}` }));
const select = (values: readonly (string | number)[], more: object = {}) => ({
  type: 3,
  custom_id: 's',
  options: values.map((value) => ({ label: 'A', value: `${value}`, ...('max_values' in more && { default: true }) })),
  ...more,
});
const V2 = 1 << 15;
const texts = (...lengths: number[]) => lengths.map((length) => ({ type: 10, content: text(length) }));
const newer = (...lengths: number[]) => ({ flags: V2, components: texts(...lengths) });
const taking = (max_values: number, ...values: string[]) => select(values, { max_values });
const [menu, otherMenu] = [select(['a']), select(['a'], { custom_id: 't' })];
const linked = (url: string) => embed({ url });
const stamped = (timestamp: string) => embed({ timestamp });
const mentions = (allowed_mentions: object) => ({ content: 'x', allowed_mentions });
const parsing = (kind: string) => mentions({ parse: [kind], users: [seed.mia] });
const naming = (...roles: string[]) => mentions({ roles });
const attaching = (...attachments: object[]) => ({ content: 'x', attachments });
const replying = (more: object = {}) => ({ content: 'x', message_reference: { message_id: '1', ...more } });
const nameless = { type: 2, style: 1, custom_id: 'a' };

const twoRows = (...ids: string[]) => content(...ids.map((custom_id) => row(button({ custom_id }))));
const link = (url?: string) => button({ custom_id: undefined, style: 5, url });

const COMPONENT_LIMITS: Limit[] = [
  ['a custom ID is longer than 100 characters', 100, (size) => button({ custom_id: text(size) }), 'custom_id'],
  ['the label of a button is longer than 80 characters', 80, (size) => button({ label: text(size) }), 'label'],
  ['a menu has more than 25 options', 25, (size) => select([...Array(size).keys()]), 'options'],
];

/** Faults of a component that is alone in its row. */
const COMPONENTS: Case[] = [
  ['a button has no custom ID', button({ custom_id: undefined }), 'custom_id', button({})],
  ['a button has neither a label nor an emoji', nameless, 'label', { ...nameless, emoji: { name: '🔔' } }],
  ['a link button has no link', link(), 'url', link('https://a.example')],
  ['the link of a button has no domain', link('https://my_host.example/tx'), 'url', link('http://localhost:4000/tx')],
  ['two options of a menu have the same value', select(['a', 'a']), 'options.1.value', select(['a', 'b'])],
  ['a menu takes more values than it has options', taking(2, 'a'), 'max_values', taking(1, 'a')],
  ['a menu has more default options than it takes', taking(1, 'a', 'b'), 'options', taking(2, 'a', 'b')],
  ...COMPONENT_LIMITS.map(atLimit),
];

const LIMITS: Limit[] = [
  ['its content is longer than 2,000 characters', 2_000, (size) => ({ content: text(size) }), 'content'],
  ['it has more than ten embeds', 10, embeds, 'embeds'],
  ['its embeds have more than 6,000 characters', 2_000, (size) => described(4_000, size), 'embeds'],
  ['a title is longer than 256 characters', 256, (size) => embed({ title: text(size) }), 'embeds.0.title'],
  ['a description is longer than 4,096 characters', 4_096, (size) => described(size), 'embeds.0.description'],
  ['an embed has more than 25 fields', 25, (size) => embed({ fields: fields(size) }), 'embeds.0.fields'],
  ['the name of a field is too long', 256, (size) => field(text(size), 'v'), 'embeds.0.fields.0.name'],
  ['the value of a field is too long', 1_024, (size) => field('n', text(size)), 'embeds.0.fields.0.value'],
  ['a footer is longer than 2,048', 2_048, (size) => embed({ footer: { text: text(size) } }), 'embeds.0.footer.text'],
  ['a color has more than 24 bits', 0xffffff, (color) => embed({ color }), 'embeds.0.color'],
  ['it has more than five rows', 5, (size) => content(...buttons(size).map((one) => row(one))), 'components'],
  ['a row has more than five buttons', 5, (size) => content(row(...buttons(size))), 'components.0.components'],
  ['its components display more than 4,000 characters', 1_500, (size) => newer(2_500, size), 'components'],
  ['its nonce is longer than 25 characters', 25, (size) => ({ content: 'x', nonce: text(size) }), 'nonce'],
];

const MESSAGES: Case[] = [
  ['its content is not text', { content: { a: 1 } }, 'content', { content: 'a' }],
  ['an embed is empty', { content: 'x', embeds: [{}] }, 'embeds.0.description', embed({})],
  ['an embed has nothing but a color', { embeds: [{ color: 1 }] }, 'embeds.0.description', embed({ color: 1 })],
  ['the value of a field is empty', field('n', ''), 'embeds.0.fields.0.value', field('n', '-')],
  ['the value of a field is blank', field('n', ' \n'), 'embeds.0.fields.0.value', field('n', '\u200b')],
  ['the name of a field is empty', field('', 'v'), 'embeds.0.fields.0.name', field('\u200b', 'v')],
  ['a link is malformed', linked('no link'), 'embeds.0.url', linked('https://a.example/b')],
  ['a link has an unknown scheme', linked('ftp://a.b'), 'embeds.0.url', linked('http://a.b')],
  ['a link has no domain', linked('http://explorer:4000/tx'), 'embeds.0.url', linked('http://10.0.0.1:4000')],
  ['a timestamp is not a time', stamped('today'), 'embeds.0.timestamp', stamped('2026-01-01T00:00:00.000Z')],
  ['a row is empty', content(row()), 'components.0.components', content(row(button({})))],
  ['a component is unknown', content({ type: 99 }), 'components.0.type', content(row(button({})))],
  ['two buttons have the same custom ID', twoRows('a', 'a'), 'components.1.components.0.custom_id', twoRows('a', 'b')],
  ['a row has two menus', content(row(menu, otherMenu)), 'components.0.components', content(row(menu), row(otherMenu))],
  ['it has text next to the newer components', { ...newer(1), content: 'x' }, 'content', newer(1)],
  ['it has newer components without their flag', content(...texts(1)), 'components.0.type', newer(4_000)],
  ['it both parses and lists mentions of a kind', parsing('users'), 'allowed_mentions', parsing('roles')],
  ['it parses an unknown kind', mentions({ parse: ['all'] }), 'allowed_mentions.parse.0', mentions({ parse: [] })],
  ['it lists a role twice', naming('1', '2', '1'), 'allowed_mentions.roles.2', naming('1', '2')],
  ['it lists an attachment that it does not have', attaching({ id: 0 }), 'attachments.0', attaching()],
  ['it replies to no message', replying(), 'message_reference', replying({ fail_if_not_exists: false })],
  ...LIMITS.map(atLimit),
  ...COMPONENTS.map(([name, bad, path, good]): Case => {
    return [name, content(row(bad)), `components.0.components.0.${path}`, content(row(good))];
  }),
];

const discord = await forFile(startDiscord({ limits: 'none' }));
beforeEach(() => void discord.act({ do: 'forget' }));
const send = (body: unknown, to: Discord = discord) =>
  call(to, 'POST', `/channels/${seed.harbor.general}/messages`, body);

describe('messages', () => {
  it.each(MESSAGES)('refuses a message with 50035 when %s', async (_name, bad, path, good) => {
    const refused = await send(bad);
    expect(refused).toMatchObject({ status: 400, body: { code: 50035, message: 'Invalid Form Body' } });
    expect(codeAt(refused.body.errors, path), JSON.stringify(refused.body.errors)).toEqual(expect.any(String));
    expect(await send(good)).toMatchObject({ status: 200 });
    expect(discord.messages(seed.harbor.general)).toHaveLength(1);
  });

  it('reports every error of a body at once', async () => {
    const { body } = await send({ content: text(5_000), ...embed({ title: text(300), color: -1 }) });
    for (const path of ['content', 'embeds.0.title', 'embeds.0.color'])
      expect(codeAt(body.errors, path), path).toEqual(expect.any(String));
  });

  it.each([[{}], [{ content: ' \n ' }], [{ embeds: [] }], [{ content: null, components: [] }]])(
    'refuses an empty message %j with 50006',
    async (body) => {
      expect(refusal(await send(body))).toEqual([400, 50006]);
    },
  );

  it('applies the same rules to an edit, and refuses one that empties the message', async () => {
    const { body } = await send({ content: 'x' });
    const path = `/channels/${seed.harbor.general}/messages/${body.id}`;
    expect(await call(discord, 'PATCH', path, { content: 'x'.repeat(2001) })).toMatchObject({ body: { code: 50035 } });
    expect(await call(discord, 'PATCH', path, { content: '' })).toMatchObject({ body: { code: 50006 } });
    expect(await call(discord, 'PATCH', path, { content: '', ...embed({}) })).toMatchObject({ status: 200 });
  });

  it('refuses broken JSON, a body without a content type, and a file that is too large', async () => {
    const url = `${discord.apiUrl}/v10/channels/${seed.harbor.general}/messages`;
    const headers = { authorization: `Bot ${discord.token}`, 'content-type': 'application/json' };
    const broken = await fetch(url, { method: 'POST', headers, body: '{"content":' });
    expect([broken.status, ((await broken.json()) as { code: number }).code]).toEqual([400, 50109]);
    const untold = { ...headers, 'content-type': 'text/plain' };
    const unread = await fetch(url, { method: 'POST', headers: untold, body: '{"content":"x"}' });
    expect(await unread.json()).toMatchObject({ code: 50035, errors: { _errors: [{ code: 'CONTENT_TYPE_INVALID' }] } });
    const form = new FormData();
    form.append('files[0]', new Blob([new Uint8Array(10 * 1024 * 1024 + 1)]), 'big.bin');
    expect(refusal(await send(form))).toEqual([413, 40005]);
  });

  it('accepts any body with strict: false', async () => {
    const lenient = await standIn({ limits: 'none', strict: false });
    expect(await send({ content: 'x'.repeat(2001) }, lenient)).toMatchObject({ status: 200 });
  });
});
