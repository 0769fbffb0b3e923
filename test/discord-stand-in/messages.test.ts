import { AttachmentBuilder, ChannelType, type TextChannel } from 'discord.js';
import { expect, it } from 'vitest';
import { createManualClock, type Discord, seed } from '../../sandbox/discord/index.ts';
import { makeRequest } from '../../src/discord/sender.ts';
import { call, logIn, refusal, standIn } from './bot.ts';

const { harbor, orchid } = seed;
const MESSAGES = `/channels/${harbor.general}/messages`;
const send = (discord: Discord, body: unknown, channelId: string = harbor.general) =>
  call(discord, 'POST', `/channels/${channelId}/messages`, body);

it('keeps the history of a message that is sent, edited, read and deleted', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const channel = (await client.channels.fetch(harbor.general)) as TextChannel;
  const message = await channel.send({ content: 'one', embeds: [{ title: 'T', fields: [{ name: 'n', value: 'v' }] }] });
  await message.edit('two');
  expect((await channel.messages.fetch({ message: message.id, force: true })).content).toBe('two');
  expect((await channel.messages.fetch({ limit: 5 })).size).toBe(1);
  await message.delete();
  expect(refusal(await call(discord, 'GET', `${MESSAGES}/${message.id}`))).toEqual([404, 10008]);
  const [state] = discord.history(harbor.general);
  const history = state!.history.map(({ change, message: { content } }) => `${change} ${content}`);
  expect(history).toEqual(['created one', 'edited two', 'deleted two']);
  expect(state!.message.embeds).toMatchObject([{ type: 'rich', fields: [{ name: 'n', value: 'v', inline: false }] }]);
});

it('lists messages newest first, before, after and around an id', async () => {
  const discord = await standIn({ limits: 'none' });
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1) ids.push((await send(discord, { content: `${index}` })).body.id);
  const list = async (query: string): Promise<string> => {
    const { body } = await call(discord, 'GET', `${MESSAGES}?${query}`);
    return body.map(({ content }: { content: string }) => content).join('');
  };
  expect(await list('')).toBe('6543210');
  expect(await list('limit=2')).toBe('65');
  expect(await list(`limit=2&before=${ids[3]}`)).toBe('21');
  expect(await list(`limit=2&after=${ids[3]}`)).toBe('54');
  expect(await list(`limit=3&around=${ids[3]}`)).toBe('432');
  for (const wrong of ['limit=101', 'after=yesterday'])
    expect(refusal(await call(discord, 'GET', `${MESSAGES}?${wrong}`))).toEqual([400, 50035]);
});

it('serves files, shows them in embeds, and keeps or removes them on edits', async () => {
  const discord = await standIn();
  // The library sends files only if its own undici was the first that the process loaded.
  const client = await logIn(discord, { rest: { makeRequest } });
  const channel = (await client.channels.fetch(harbor.general)) as TextChannel;
  const files = [
    new AttachmentBuilder(Buffer.from('a;b'), { name: 'a b.csv', description: 'A list' }),
    new AttachmentBuilder(Buffer.from('png'), { name: 'chart.png' }),
  ];
  const sent = await channel.send({ embeds: [{ image: { url: 'attachment://chart.png' } }], files });
  expect([...sent.attachments.values()]).toMatchObject([{ name: 'a b.csv', size: 3, description: 'A list' }]);
  const read = async (url: string) => (await fetch(url)).text();
  expect(await read(sent.attachments.first()!.url)).toBe('a;b');
  expect(await read(sent.embeds[0]!.image!.url)).toBe('png');
  // A file that no embed shows anymore is listed as an attachment.
  const bare = await sent.edit({ embeds: [{ description: 'Bare' }] });
  expect(bare.attachments.map(({ name }) => name)).toEqual(['a b.csv', 'chart.png']);
  const list = [new AttachmentBuilder(Buffer.from('c;d'), { name: 'a b.csv' })];
  const renewed = await sent.edit({ attachments: [], files: list });
  expect(await Promise.all(renewed.attachments.map(({ url }) => read(url)))).toEqual(['c;d']);
  // A new file that `attachments` omits is not attached.
  const form = new FormData();
  form.set('payload_json', '{"attachments":[]}');
  form.set('files[0]', new Blob(['e;f']), 'e.csv');
  await call(discord, 'PATCH', `${MESSAGES}/${sent.id}`, form);
  expect(discord.messages(harbor.general)[0]!.message).toMatchObject({ attachments: [] });
  const edited = await sent.edit({ attachments: [], content: 'none' });
  expect(edited.attachments.size).toBe(0);
});

it('returns the first message for an enforced nonce until the nonce expires', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock, limits: 'none' });
  const body = { content: 'once', nonce: 'n-1', enforce_nonce: true };
  const first = await send(discord, body);
  expect(first.body.nonce).toBe('n-1');
  clock.advance(4 * 60_000);
  const again = await send(discord, { ...body, content: 'changed' });
  expect(again).toMatchObject({ status: 200, body: { id: first.body.id, content: 'once' } });
  // A nonce applies to the author, in any channel.
  expect((await send(discord, body, harbor.alerts)).body.id).toBe(first.body.id);
  expect(discord.messages(harbor.alerts)).toEqual([]);
  expect(discord.messages(harbor.general)).toHaveLength(1);
  clock.advance(60_000);
  expect((await send(discord, body)).body.id).not.toBe(first.body.id);
});

it('creates a second message without enforce_nonce, and returns 10008 if the first was deleted', async () => {
  const discord = await standIn({ limits: 'none' });
  await send(discord, { content: 'x', nonce: 'n' });
  await send(discord, { content: 'x', nonce: 'n' });
  expect(discord.messages(harbor.general)).toHaveLength(2);
  const { body } = await send(discord, { content: 'x', nonce: 'm', enforce_nonce: true });
  discord.act({ do: 'message.delete', messageId: body.id });
  expect(refusal(await send(discord, { content: 'x', nonce: 'm', enforce_nonce: true }))).toEqual([404, 10008]);
});

it('notifies only the mentions that allowed_mentions and permissions allow', async () => {
  const discord = await standIn({ limits: 'none' });
  const content = `@everyone <@${seed.mia}> <@&${harbor.watchers}>`;
  const notified = async (allowed_mentions?: object) => {
    const { body } = await send(discord, { content, ...(allowed_mentions && { allowed_mentions }) });
    return [body.mention_everyone, body.mentions.length, body.mention_roles.length];
  };
  expect(await notified({ parse: [] })).toEqual([false, 0, 0]);
  expect(await notified({ parse: ['users'] })).toEqual([false, 1, 0]);
  // The role is not mentionable and the bot may not mention everyone.
  expect(await notified()).toEqual([false, 1, 0]);
  discord.act({ do: 'role.update', roleId: harbor.watchers, mentionable: true });
  expect(await notified({ parse: [], roles: [harbor.watchers] })).toEqual([false, 0, 1]);
});

it('distinguishes unknown, hidden and forbidden channels in its errors', async () => {
  const discord = await standIn({ limits: 'none' });
  const refused = async (channelId: string, body: unknown = { content: 'x' }) =>
    refusal(await send(discord, body, channelId));
  expect(await refused('1')).toEqual([404, 10003]);
  expect(await refused(harbor.council)).toEqual([403, 50001]);
  expect(await refused(orchid.rules)).toEqual([403, 50013]);
  expect((await send(discord, { content: 'x' }, harbor.treasury)).status).toBe(200);
  discord.act({ do: 'channel.forbid', channelId: harbor.alerts, permissions: ['EmbedLinks', 'AttachFiles'] });
  expect(await refused(harbor.alerts, { embeds: [{ title: 't' }] })).toEqual([403, 50013]);
  const form = new FormData();
  form.append('files[0]', new Blob(['x']), 'x.txt');
  expect(await refused(harbor.alerts, form)).toEqual([403, 50013]);
  expect((await send(discord, { content: 'x' }, harbor.alerts)).status).toBe(200);
  expect((await send(discord, { content: 'x' }, harbor.audit)).status).toBe(200);
  discord.act({ do: 'channel.forbid', channelId: harbor.alerts, permissions: ['SendMessagesInThreads'] });
  expect(await refused(harbor.audit)).toEqual([403, 50013]);
  discord.act({ do: 'channel.forbid', channelId: harbor.alerts });
  expect(await refused(harbor.audit)).toEqual([403, 50001]);
  discord.act({ do: 'channel.allow', channelId: harbor.alerts });
  discord.act({ do: 'channel.update', channelId: harbor.audit, locked: true });
  expect(await refused(harbor.audit)).toEqual([403, 160005]);
  const permissions = ['ViewChannel', 'SendMessagesInThreads', 'ManageThreads'] as const;
  const role = { do: 'role.create', guildId: harbor.id, name: 'Moderator' } as const;
  const { id } = discord.act({ ...role, permissions: [...permissions] });
  discord.act({ do: 'member.update', guildId: harbor.id, userId: discord.botId, roleIds: [id!] });
  expect((await send(discord, { content: 'x' }, harbor.audit)).status).toBe(200);
  discord.act({ do: 'channel.delete', channelId: harbor.alerts });
  expect(await refused(harbor.audit)).toEqual([404, 10003]);
});

it('computes permissions from roles, and grants owners and administrators everything', async () => {
  const discord = await standIn({ limits: 'none' });
  const member = { do: 'member.update', guildId: orchid.id, userId: discord.botId } as const;
  const { id } = discord.act({ do: 'role.create', guildId: orchid.id, name: 'All', permissions: ['Administrator'] });
  expect((await send(discord, { content: 'x' }, orchid.rules)).status).toBe(403);
  discord.act({ ...member, roleIds: [id!] });
  expect((await send(discord, { content: 'x' }, orchid.rules)).status).toBe(200);
});

it("refuses to edit others' messages, and to delete them without the permission", async () => {
  const discord = await standIn();
  const { id } = discord.act({ do: 'message.send', channelId: harbor.general, userId: seed.mia, content: 'mine' });
  expect(refusal(await call(discord, 'PATCH', `${MESSAGES}/${id}`, { content: 'x' }))).toEqual([403, 50005]);
  expect(refusal(await call(discord, 'DELETE', `${MESSAGES}/${id}`))).toEqual([403, 50013]);
});

it("hides others' content in REST without the privileged intent unless it mentions the bot", async () => {
  const contents = async (privilegedIntents: boolean) => {
    const discord = await standIn({ privilegedIntents, limits: 'none' });
    const say = (content: string) =>
      discord.act({ do: 'message.send', channelId: harbor.general, userId: seed.mia, content }).id!;
    const [psst] = [say('psst'), say(`<@${seed.bot}> hello`)];
    await send(discord, { content: 'own', message_reference: { message_id: psst } });
    const [own, ...others] = (await call(discord, 'GET', MESSAGES)).body;
    const { body } = await call(discord, 'GET', `${MESSAGES}/${psst}`);
    return [own, own.referenced_message, ...others, body].map(({ content }) => content);
  };
  const hello = `<@${seed.bot}> hello`;
  expect(await contents(true)).toEqual(['own', 'psst', hello, 'psst', 'psst']);
  expect(await contents(false)).toEqual(['own', '', hello, '', '']);
});

it('delivers direct messages to people who accept them', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const sent = await client.users.send(seed.mia, 'hello');
  expect(discord.messages(sent.channelId)).toMatchObject([{ guildId: null, message: { content: 'hello' } }]);
  discord.act({ do: 'user.update', userId: seed.mia, acceptsDirectMessages: false });
  await expect(client.users.send(seed.mia, 'hello')).rejects.toMatchObject({ code: 50007 });
});

it('creates threads on messages, and reopens an archived one when the bot writes', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const channel = (await client.channels.fetch(harbor.general)) as TextChannel;
  const message = await channel.send('topic');
  const thread = await message.startThread({ name: 'talk' });
  expect(thread.id).toBe(message.id);
  discord.act({ do: 'channel.update', channelId: thread.id, archived: true });
  const inside = await thread.send('inside');
  expect(discord.state.guilds[0]!.channels.find(({ id }) => id === thread.id)).toMatchObject({ archived: false });
  discord.act({ do: 'channel.update', channelId: thread.id, archived: true });
  await expect(inside.edit('changed')).rejects.toMatchObject({ code: 50083 });
  discord.act({ do: 'channel.update', channelId: thread.id, archived: false, locked: true });
  await expect(inside.edit('changed')).rejects.toMatchObject({ code: 160005 });
});

it('accepts messages in voice and stage channels, but not in forums', async () => {
  const discord = await standIn({ limits: 'none' });
  const status = async (type: ChannelType) => {
    const { id } = discord.act({ do: 'channel.create', guildId: harbor.id, name: 'new', type });
    return (await send(discord, { content: 'x' }, id!)).status;
  };
  expect(await status(ChannelType.GuildVoice)).toBe(200);
  expect(await status(ChannelType.GuildStageVoice)).toBe(200);
  expect(await status(ChannelType.GuildForum)).toBe(400);
});

it('registers commands globally and per server, and keeps their ids by name', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const { commands } = client.application;
  const [first] = [...(await commands.set([{ name: 'one', description: 'd' }])).values()];
  const again = await commands.set(['one', 'two'].map((name) => ({ name, description: 'e' })));
  expect(again.get(first!.id)).toMatchObject({ name: 'one', description: 'e' });
  await commands.edit(first!, { name: 'uno' });
  await commands.delete(again.find(({ name }) => name === 'two')!);
  await commands.create({ name: 'here', description: 'd' }, harbor.id);
  expect((await commands.fetch()).map(({ name }) => name)).toEqual(['uno']);
  expect(discord.state.commands).toMatchObject([
    { guildId: null, commands: [{ name: 'uno' }] },
    { guildId: harbor.id, commands: [{ name: 'here' }] },
  ]);
  expect(refusal(await call(discord, 'GET', '/applications/1/commands'))).toEqual([404, 10002]);
});

it('returns 404 with code 0 for an unknown route', async () => {
  const discord = await standIn();
  const body = { message: '404: Not Found', code: 0 };
  expect(await call(discord, 'GET', '/nothing')).toMatchObject({ status: 404, body });
});
