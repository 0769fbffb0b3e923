import { describe, expect, it } from 'vitest';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { call, codeAt, standIn } from './bot.ts';

const at = (...path: (string | number)[]) => path.join('.');

const embed = (more: object) => ({ embeds: [{ description: 'd', ...more }] });
const row = (...components: object[]) => ({ type: 1, components });
const button = (more: object) => ({ type: 2, style: 1, label: 'Go', ...more });
const buttons = (count: number) => Array.from({ length: count }, (_, index) => button({ custom_id: `b${index}` }));
const select = (more: object) => ({ type: 3, custom_id: 's', options: [{ label: 'A', value: 'a' }], ...more });
const CHOSEN = ['a', 'b'].map((value) => ({ label: value, value, default: true }));
const content = (components: object[]) => ({ content: 'x', components });
const field = (name: string, value: string) => embed({ fields: [{ name, value }] });
const fields = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `${index}`, value: 'v' }));
const V2 = 1 << 15;

type Case = [name: string, bad: object, path: string, good: object];

const MESSAGES: Case[] = [
  [
    'its content is longer than 2,000 characters',
    { content: 'x'.repeat(2001) },
    'content',
    { content: 'x'.repeat(2000) },
  ],
  ['its content is not text', { content: { a: 1 } }, 'content', { content: 'a' }],
  [
    'it has more than ten embeds',
    { embeds: Array(11).fill({ title: 't' }) },
    'embeds',
    { embeds: Array(10).fill({ title: 't' }) },
  ],
  [
    'its embeds have more than 6,000 characters',
    { embeds: [{ description: 'x'.repeat(4000) }, { description: 'x'.repeat(2001) }] },
    'embeds',
    { embeds: [{ description: 'x'.repeat(4000) }, { description: 'x'.repeat(2000) }] },
  ],
  ['an embed is empty', { content: 'x', embeds: [{}] }, at('embeds', 0, 'description'), embed({})],
  ['an embed has nothing but a color', { embeds: [{ color: 1 }] }, at('embeds', 0, 'description'), embed({ color: 1 })],
  [
    'a title is longer than 256 characters',
    embed({ title: 'x'.repeat(257) }),
    at('embeds', 0, 'title'),
    embed({ title: 'x'.repeat(256) }),
  ],
  [
    'a description is longer than 4,096 characters',
    { embeds: [{ description: 'x'.repeat(4097) }] },
    at('embeds', 0, 'description'),
    { embeds: [{ description: 'x'.repeat(4096) }] },
  ],
  [
    'an embed has more than 25 fields',
    embed({ fields: fields(26) }),
    at('embeds', 0, 'fields'),
    embed({ fields: fields(25) }),
  ],
  [
    'the name of a field is longer than 256 characters',
    field('x'.repeat(257), 'v'),
    'embeds.0.fields.0.name',
    field('x'.repeat(256), 'v'),
  ],
  [
    'the value of a field is longer than 1,024 characters',
    field('n', 'x'.repeat(1025)),
    'embeds.0.fields.0.value',
    field('n', 'x'.repeat(1024)),
  ],
  ['the value of a field is empty', field('n', ''), 'embeds.0.fields.0.value', field('n', '-')],
  ['the value of a field is blank', field('n', ' \n'), 'embeds.0.fields.0.value', field('n', '\u200b')],
  ['the name of a field is empty', field('', 'v'), 'embeds.0.fields.0.name', field('\u200b', 'v')],
  [
    'a footer is longer than 2,048 characters',
    embed({ footer: { text: 'x'.repeat(2049) } }),
    'embeds.0.footer.text',
    embed({ footer: { text: 'x'.repeat(2048) } }),
  ],
  ['a color has more than 24 bits', embed({ color: 0x1000000 }), 'embeds.0.color', embed({ color: 0xffffff })],
  ['a link is malformed', embed({ url: 'no link' }), 'embeds.0.url', embed({ url: 'https://a.example/b' })],
  [
    'a link has an unknown scheme',
    embed({ url: 'ftp://a.example' }),
    'embeds.0.url',
    embed({ url: 'http://a.example' }),
  ],
  [
    'a link leads to a host without a domain',
    embed({ url: 'http://explorer:4000/tx' }),
    'embeds.0.url',
    embed({ url: 'http://10.0.0.1:4000' }),
  ],
  [
    'a timestamp is not a time',
    embed({ timestamp: 'today' }),
    'embeds.0.timestamp',
    embed({ timestamp: '2026-01-01T00:00:00.000Z' }),
  ],
  [
    'it has more than five rows of components',
    content(Array.from({ length: 6 }, (_, i) => row(button({ custom_id: `${i}` })))),
    'components',
    content(Array.from({ length: 5 }, (_, i) => row(button({ custom_id: `${i}` })))),
  ],
  [
    'a row has more than five buttons',
    content([row(...buttons(6))]),
    'components.0.components',
    content([row(...buttons(5))]),
  ],
  ['a row is empty', content([row()]), 'components.0.components', content([row(...buttons(1))])],
  ['a component is unknown', content([{ type: 99 }]), 'components.0.type', content([row(...buttons(1))])],
  [
    'a button has no custom ID',
    content([row(button({}))]),
    'components.0.components.0.custom_id',
    content([row(...buttons(1))]),
  ],
  [
    'a custom ID is longer than 100 characters',
    content([row(button({ custom_id: 'x'.repeat(101) }))]),
    'components.0.components.0.custom_id',
    content([row(button({ custom_id: 'x'.repeat(100) }))]),
  ],
  [
    'two buttons have the same custom ID',
    content([row(button({ custom_id: 'a' })), row(button({ custom_id: 'a' }))]),
    'components.1.components.0.custom_id',
    content([row(button({ custom_id: 'a' })), row(button({ custom_id: 'b' }))]),
  ],
  [
    'a button has neither a label nor an emoji',
    content([row({ type: 2, style: 1, custom_id: 'a' })]),
    'components.0.components.0.label',
    content([row({ type: 2, style: 1, custom_id: 'a', emoji: { name: '🔔' } })]),
  ],
  [
    'the label of a button is longer than 80 characters',
    content([row(button({ custom_id: 'a', label: 'x'.repeat(81) }))]),
    'components.0.components.0.label',
    content([row(button({ custom_id: 'a', label: 'x'.repeat(80) }))]),
  ],
  [
    'a link button has no link',
    content([row(button({ style: 5 }))]),
    'components.0.components.0.url',
    content([row(button({ style: 5, url: 'https://a.example' }))]),
  ],
  [
    'the link of a button leads to a host without a domain',
    content([row(button({ style: 5, url: 'https://my_host.example/tx' }))]),
    'components.0.components.0.url',
    content([row(button({ style: 5, url: 'http://localhost:4000/tx' }))]),
  ],
  [
    'a menu has more than 25 options',
    content([row(select({ options: Array.from({ length: 26 }, (_, i) => ({ label: 'x', value: `${i}` })) }))]),
    'components.0.components.0.options',
    content([row(select({ options: Array.from({ length: 25 }, (_, i) => ({ label: 'x', value: `${i}` })) }))]),
  ],
  [
    'two options of a menu have the same value',
    content([
      row(
        select({
          options: [
            { label: 'A', value: 'a' },
            { label: 'B', value: 'a' },
          ],
        }),
      ),
    ]),
    'components.0.components.0.options.1.value',
    content([
      row(
        select({
          options: [
            { label: 'A', value: 'a' },
            { label: 'A', value: 'b' },
          ],
        }),
      ),
    ]),
  ],
  [
    'a menu takes more values than it has options',
    content([row(select({ max_values: 2 }))]),
    'components.0.components.0.max_values',
    content([row(select({ max_values: 1 }))]),
  ],
  [
    'a menu has more default options than it takes',
    content([row(select({ options: CHOSEN }))]),
    'components.0.components.0.options',
    content([row(select({ options: CHOSEN, max_values: 2 }))]),
  ],
  [
    'a row has two menus',
    content([row(select({}), select({ custom_id: 't' }))]),
    'components.0.components',
    content([row(select({})), row(select({ custom_id: 't' }))]),
  ],
  [
    'it has text next to the newer components',
    { flags: V2, content: 'x', components: [{ type: 10, content: 'y' }] },
    'content',
    { flags: V2, components: [{ type: 10, content: 'y' }] },
  ],
  [
    'it has newer components without their flag',
    content([{ type: 10, content: 'y' }]),
    'components.0.type',
    { flags: V2, components: [{ type: 10, content: 'x'.repeat(4000) }] },
  ],
  [
    'its components display more than 4,000 characters',
    {
      flags: V2,
      components: [
        { type: 10, content: 'x'.repeat(2500) },
        { type: 10, content: 'x'.repeat(1501) },
      ],
    },
    'components',
    {
      flags: V2,
      components: [
        { type: 10, content: 'x'.repeat(2500) },
        { type: 10, content: 'x'.repeat(1500) },
      ],
    },
  ],
  [
    'it both parses and lists mentions of a kind',
    { content: 'x', allowed_mentions: { parse: ['users'], users: [seed.mia] } },
    'allowed_mentions',
    { content: 'x', allowed_mentions: { parse: ['roles'], users: [seed.mia] } },
  ],
  [
    'it parses an unknown kind of mentions',
    { content: 'x', allowed_mentions: { parse: ['all'] } },
    'allowed_mentions.parse.0',
    { content: 'x', allowed_mentions: { parse: [] } },
  ],
  [
    'it lists a role twice',
    { content: 'x', allowed_mentions: { roles: ['1', '2', '1'] } },
    'allowed_mentions.roles.2',
    { content: 'x', allowed_mentions: { roles: ['1', '2'] } },
  ],
  [
    'its nonce is longer than 25 characters',
    { content: 'x', nonce: 'x'.repeat(26) },
    'nonce',
    { content: 'x', nonce: 'x'.repeat(25) },
  ],
  [
    'it lists an attachment that it does not have',
    { content: 'x', attachments: [{ id: 0 }] },
    'attachments.0',
    { content: 'x', attachments: [] },
  ],
  [
    'it replies to a message that does not exist',
    { content: 'x', message_reference: { message_id: '1' } },
    'message_reference',
    { content: 'x', message_reference: { message_id: '1', fail_if_not_exists: false } },
  ],
];

const send = (discord: Discord, body: unknown) =>
  call(discord, 'POST', `/channels/${seed.harbor.general}/messages`, body);

describe('messages', () => {
  it.each(MESSAGES)('refuses a message with 50035 when %s', async (_name, bad, path, good) => {
    const discord = await standIn({ limits: 'none' });
    const refused = await send(discord, bad);
    expect(refused).toMatchObject({ status: 400, body: { code: 50035, message: 'Invalid Form Body' } });
    expect(codeAt(refused.body.errors, path), JSON.stringify(refused.body.errors)).toEqual(expect.any(String));
    expect(await send(discord, good)).toMatchObject({ status: 200 });
    expect(discord.messages(seed.harbor.general)).toHaveLength(1);
  });

  it('reports every error of a body at once', async () => {
    const discord = await standIn({ limits: 'none' });
    const { body } = await send(discord, {
      content: 'x'.repeat(5000),
      ...embed({ title: 'x'.repeat(300), color: -1 }),
    });
    for (const path of ['content', 'embeds.0.title', 'embeds.0.color'])
      expect(codeAt(body.errors, path), path).toEqual(expect.any(String));
  });

  it.each([[{}], [{ content: ' \n ' }], [{ embeds: [] }], [{ content: null, components: [] }]])(
    'refuses an empty message %j with 50006',
    async (body) => {
      const discord = await standIn({ limits: 'none' });
      expect(await send(discord, body)).toMatchObject({ status: 400, body: { code: 50006 } });
    },
  );

  it('applies the same rules to an edit, and refuses one that empties the message', async () => {
    const discord = await standIn({ limits: 'none' });
    const { body } = await send(discord, { content: 'x' });
    const path = `/channels/${seed.harbor.general}/messages/${body.id}`;
    expect(await call(discord, 'PATCH', path, { content: 'x'.repeat(2001) })).toMatchObject({ body: { code: 50035 } });
    expect(await call(discord, 'PATCH', path, { content: '' })).toMatchObject({ body: { code: 50006 } });
    expect(await call(discord, 'PATCH', path, { content: '', ...embed({}) })).toMatchObject({ status: 200 });
  });

  it('refuses broken JSON, a body without a content type, and a file that is too large', async () => {
    const discord = await standIn({ limits: 'none' });
    const url = `${discord.apiUrl}/v10/channels/${seed.harbor.general}/messages`;
    const headers = { authorization: `Bot ${discord.token}`, 'content-type': 'application/json' };
    const broken = await fetch(url, { method: 'POST', headers, body: '{"content":' });
    expect([broken.status, ((await broken.json()) as { code: number }).code]).toEqual([400, 50109]);
    const untold = { ...headers, 'content-type': 'text/plain' };
    const unread = await fetch(url, { method: 'POST', headers: untold, body: '{"content":"x"}' });
    expect(await unread.json()).toMatchObject({ code: 50035, errors: { _errors: [{ code: 'CONTENT_TYPE_INVALID' }] } });
    const form = new FormData();
    form.append('files[0]', new Blob([new Uint8Array(10 * 1024 * 1024 + 1)]), 'big.bin');
    expect(await send(discord, form)).toMatchObject({ status: 413, body: { code: 40005 } });
  });

  it('accepts any body with strict: false', async () => {
    const discord = await standIn({ limits: 'none', strict: false });
    expect(await send(discord, { content: 'x'.repeat(2001) })).toMatchObject({ status: 200 });
  });
});
