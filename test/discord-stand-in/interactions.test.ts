import {
  ApplicationCommandType,
  type Client,
  Events,
  type Interaction,
  InteractionContextType,
  MessageFlags,
  PermissionFlagsBits,
  ApplicationCommandOptionType as Type,
} from 'discord.js';
import { expect, it } from 'vitest';
import { createManualClock, type Discord, type ManualClock, NotPossible, seed } from '../../sandbox/discord/index.ts';
import { call, logIn, refusal, standIn } from './bot.ts';
import { logInShowcase } from './showcase.ts';

const { harbor } = seed;
const GENERAL = { userId: seed.mia, channelId: harbor.general };
const MAX = { ...GENERAL, userId: seed.max };

const COMMANDS = [
  { name: 'ping', description: 'Answers' },
  {
    name: 'watch',
    description: 'Many options',
    contexts: [InteractionContextType.Guild],
    defaultMemberPermissions: PermissionFlagsBits.ManageGuild,
    options: [
      {
        type: Type.Subcommand as const,
        name: 'add',
        description: 'Adds',
        options: [
          { type: Type.String as const, name: 'address', description: 'd', required: true, autocomplete: true },
          { type: Type.Channel as const, name: 'channel', description: 'd' },
          { type: Type.Role as const, name: 'mention', description: 'd' },
          { type: Type.User as const, name: 'owner', description: 'd' },
          { type: Type.Integer as const, name: 'page', description: 'd', minValue: 1 },
          { type: Type.Attachment as const, name: 'file', description: 'd' },
        ],
      },
    ],
  },
  { name: 'Look up', type: ApplicationCommandType.Message as const },
];

async function bot(discord: Discord, answer: (interaction: Interaction) => unknown): Promise<Client<true>> {
  const client = await logIn(discord);
  await client.application.commands.set(COMMANDS);
  client.on(Events.InteractionCreate, answer);
  return client;
}

it('sends a command with every option type that discord.js reads', async () => {
  const discord = await standIn();
  const seen: unknown[] = [];
  await bot(discord, async (interaction) => {
    if (!interaction.isChatInputCommand() || !interaction.inCachedGuild()) return;
    const { options } = interaction;
    const file = options.getAttachment('file', true);
    seen.push(
      [interaction.commandName, options.getSubcommand(), options.getString('address'), options.getInteger('page')],
      [options.getChannel('channel')?.name, options.getRole('mention')?.name, options.getMember('owner')?.displayName],
      [file.name, await (await fetch(file.url)).text()],
      [interaction.locale, interaction.guildLocale, interaction.context, interaction.channel?.name],
      interaction.memberPermissions.has(PermissionFlagsBits.ManageGuild),
      interaction.appPermissions.has(PermissionFlagsBits.EmbedLinks),
      interaction.authorizingIntegrationOwners['0'],
    );
    await interaction.reply({ content: 'done', embeds: [{ title: 'Watched' }] });
  });
  const chosen = { channel: harbor.alerts, mention: harbor.watchers, owner: seed.ada };
  const file = { filename: 'list.csv', contentType: 'text/csv', text: 'a,b' };
  const options = { address: '0xabc', ...chosen, page: 2, file };
  const used = await discord.use({ ...MAX, kind: 'command', name: 'watch add', options });
  expect(seen).toEqual([
    ['watch', 'add', '0xabc', 2],
    ['alerts', 'Watchers', 'Ada'],
    ['list.csv', 'a,b'],
    ['en-GB', 'en-US', InteractionContextType.Guild, 'general'],
    true,
    true,
    harbor.id,
  ]);
  expect(used.state).toMatchObject({ status: 'acknowledged', responseType: 4, loading: false, name: 'watch add' });
  expect(used.state.reply?.message).toMatchObject({ content: 'done', embeds: [{ title: 'Watched' }], type: 20 });
});

it('shows a deferred ephemeral reply to one person only, first loading, then complete', async () => {
  const discord = await standIn();
  const may = Promise.withResolvers<void>();
  await bot(discord, async (interaction) => {
    if (!interaction.isChatInputCommand()) return;
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    await may.promise;
    await interaction.editReply('pong');
    await interaction.followUp({ content: 'more', flags: MessageFlags.Ephemeral });
    await interaction.deleteReply();
  });
  const used = await discord.use({ ...GENERAL, kind: 'command', name: 'ping' });
  expect(used.state).toMatchObject({ responseType: 5, loading: true, reply: { visibleTo: seed.mia } });
  may.resolve();
  expect((await used.final()).reply?.message).toMatchObject({ content: 'pong', flags: MessageFlags.Ephemeral });
  const state = await used.until(({ reply }) => reply?.deleted === true);
  expect(state.reply?.history.map(({ change }) => change)).toEqual(['created', 'edited', 'deleted']);
  expect(state.followups.map(({ message }) => message.content)).toEqual(['more']);
  const list = await call(discord, 'GET', `/channels/${harbor.general}/messages`);
  expect(list.body).toEqual([]);
});

it('asks the bot for autocomplete, and refuses options that a client would not send', async () => {
  const discord = await standIn();
  await bot(discord, async (interaction) => {
    if (!interaction.isAutocomplete()) return;
    const focused = interaction.options.getFocused(true);
    await interaction.respond([{ name: `${focused.name} ${focused.value}!`, value: 'v' }]);
  });
  const typing = { ...MAX, kind: 'autocomplete' as const, name: 'watch add' };
  const asked = await discord.use({ ...typing, focused: 'address', options: { address: '0x' } });
  expect(asked.state.choices).toEqual([{ name: 'address 0x!', value: 'v' }]);
  await expect(discord.use({ ...typing, focused: 'page' })).rejects.toThrow(/autocomplete/);
  for (const [used, refusal] of [
    [{ name: 'watch add' }, /needs the option "address"/],
    [{ name: 'watch' }, /needs a subcommand: add/],
    [{ name: 'nothing' }, /Registered: ping, watch, Look up/],
    [{ name: 'watch add', options: { address: 'x', page: 0 } }, /below its minimum of 1/],
  ] as const)
    await expect(discord.use({ ...MAX, kind: 'command', ...used })).rejects.toThrow(refusal);
  const mia = { ...GENERAL, kind: 'command' as const, name: 'watch add', options: { address: 'x' } };
  await expect(discord.use(mia)).rejects.toThrow(NotPossible);
  expect(discord.begin({ ...mia, unchecked: true }).state.status).toBe('waiting');
});

it('handles buttons, menus and forms on messages of the bot', async () => {
  const discord = await standIn();
  await logInShowcase(discord);
  const use = (name: string) => discord.use({ ...GENERAL, kind: 'command', name });

  const { id: messageId } = (await use('menu')).state.reply!;
  const menu = { ...GENERAL, kind: 'select' as const, messageId, customId: 'colors' };
  await expect(discord.use({ ...menu, values: ['pink'] })).rejects.toThrow(/does not offer "pink"/);
  await expect(discord.use({ ...menu, values: ['red'], userId: seed.noa })).rejects.toThrow(/sees no message/);
  const chosen = await discord.use({ ...menu, values: ['red', 'blue'] });
  const update = { id: messageId, message: { content: 'Chosen: red and blue', components: [] } };
  expect(chosen.state.reply).toMatchObject(update);

  const asked = await use('form');
  expect(asked.state.modal).toMatchObject({ custom_id: 'form', title: 'Who are you?' });
  const form = { ...GENERAL, kind: 'modal' as const, interactionId: asked.id };
  await expect(discord.use({ ...form, values: { name: 'A' } })).rejects.toThrow(/length/);
  await expect(discord.use({ ...form, values: { other: 'x' } })).rejects.toThrow(/has no field "other". It has: name/);
  const sent = await discord.use({ ...form, values: { name: 'Ada' } });
  expect(sent.state.reply?.message.content).toBe('Welcome, Ada.');

  const counted = await use('count');
  const press = { ...GENERAL, kind: 'button' as const, messageId: counted.state.reply!.id };
  await expect(discord.use({ ...press, customId: 'less' })).rejects.toThrow(/disabled/);
  const pressed = await discord.use({ ...press, customId: '0' });
  expect(pressed.state.reply?.message.content).toBe('It is 1');
});

it('sends a message command with its message, and direct messages without a member', async () => {
  const discord = await standIn();
  const seen: unknown[] = [];
  await bot(discord, async (interaction) => {
    if (interaction.isMessageContextMenuCommand()) seen.push(interaction.targetMessage.content);
    else seen.push(interaction.member, interaction.user.username, interaction.context, interaction.channelId);
    if (interaction.isCommand()) await interaction.reply('ok');
  });
  const { id } = discord.act({ do: 'message.send', channelId: harbor.general, userId: seed.max, content: 'look' });
  await discord.use({ ...GENERAL, kind: 'message-command', name: 'Look up', messageId: id! });
  const dm = discord.act({ do: 'dm.open', userId: seed.mia });
  const inDm = { userId: seed.mia, channelId: dm.id! };
  const used = await discord.use({ ...inDm, kind: 'command', name: 'ping' });
  expect(used.state.reply?.message.content).toBe('ok');
  expect(seen).toEqual(['look', null, 'mia', InteractionContextType.BotDM, dm.id]);
  await expect(discord.use({ ...inDm, kind: 'command', name: 'watch add' })).rejects.toThrow(/not offered in direct/);
});

/** Starts a stand-in whose clock stands still, with an interaction that the bot leaves unanswered. */
async function waiting(): Promise<{ discord: Discord; clock: ManualClock; id: string; token: string }> {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  const client = await logIn(discord);
  await client.application.commands.set(COMMANDS);
  const token = new Promise<string>((resolve) => client.on(Events.InteractionCreate, (one) => resolve(one.token)));
  const { id } = discord.begin({ ...GENERAL, kind: 'command', name: 'ping' });
  return { discord, clock, id, token: await token };
}

const OPEN = { authorization: '' };

it('accepts one acknowledgment within 3 s and fails the interaction otherwise', async () => {
  const { discord, clock, id, token } = await waiting();
  const answer = (body: unknown, key = token) =>
    call(discord, 'POST', `/interactions/${id}/${key}/callback`, body, OPEN);
  expect(refusal(await answer({ type: 4, data: { content: 'x' } }, 'forged'))).toEqual([404, 10062]);
  expect(refusal(await answer({ type: 4, data: { content: 'x'.repeat(2001) } }))).toEqual([400, 50035]);
  expect(refusal(await answer({ type: 4, data: {} }))).toEqual([400, 50006]);
  expect(refusal(await answer({ type: 8, data: { choices: [] } }))).toEqual([400, 50035]);
  clock.advance(3000);
  const failure = 'The application did not respond';
  expect(discord.state.interactions.at(-1)).toMatchObject({ status: 'failed', failure });
  expect(refusal(await answer({ type: 4, data: { content: 'x' } }))).toEqual([404, 10062]);
});

it('returns 204 or, with with_response, the created message, and refuses a second callback', async () => {
  const { discord, clock, id, token } = await waiting();
  clock.advance(2999);
  const path = `/interactions/${id}/${token}/callback`;
  const reply = { type: 4, data: { content: 'x', flags: 64 } };
  const first = await call(discord, 'POST', `${path}?with_response=true`, reply, OPEN);
  const interaction = { id, type: 2, response_message_ephemeral: true, response_message_loading: false };
  const resource = { type: 4, message: { content: 'x' } };
  expect(first).toMatchObject({ status: 200, body: { interaction, resource } });
  expect(refusal(await call(discord, 'POST', path, { type: 4, data: { content: 'y' } }, OPEN))).toEqual([400, 40060]);
});

it('accepts an interaction token for 15 minutes, without authorization, for its own messages only', async () => {
  const { discord, clock, id, token } = await waiting();
  const root = `/webhooks/${discord.botId}/${token}`;
  const hook = (method: string, path: string, body?: unknown) => call(discord, method, root + path, body, OPEN);
  expect(refusal(await hook('POST', '', { content: 'early' }))).toEqual([404, 10015]);
  const ack = await call(discord, 'POST', `/interactions/${id}/${token}/callback`, { type: 5 }, OPEN);
  expect([ack.status, ack.headers.get('content-type')]).toEqual([204, null]);
  const foreign = discord.act({ do: 'message.send', channelId: harbor.general, userId: seed.mia, content: 'mine' });
  expect(refusal(await hook('PATCH', `/messages/${foreign.id}`, { content: 'x' }))).toEqual([404, 10008]);
  const edited = await hook('PATCH', '/messages/%40original', { content: 'x' });
  expect(edited).toMatchObject({ status: 200, body: { content: 'x', flags: 0 } });
  expect(await hook('GET', '/messages/@original')).toMatchObject({ status: 200, body: { content: 'x' } });
  clock.advance(15 * 60_000);
  expect(refusal(await hook('POST', '', { content: 'late' }))).toEqual([401, 50027]);
  expect(JSON.stringify(discord.requests())).not.toContain(token);
});

it('fails an interaction when no bot is connected', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  await call(discord, 'PUT', `/applications/${discord.botId}/commands`, [{ name: 'ping', description: 'd' }]);
  const used = discord.begin({ ...GENERAL, kind: 'command', name: 'ping' });
  clock.advance(3000);
  expect(await used.acknowledged()).toMatchObject({ status: 'failed', reply: null });
});

it('checks forms and autocomplete choices of the bot', async () => {
  const discord = await standIn();
  const errors: number[] = [];
  const form = (...components: object[]) => ({ custom_id: 'f', title: 't', components });
  const inRow = (component: object) => form({ type: 1, components: [component] });
  const labeled = (component: object) => form({ type: 18, label: 'l', component });
  const bad: unknown[] = [
    { ...form(), title: 'x'.repeat(46) },
    inRow({ type: 4, custom_id: 'a', style: 1 }),
    inRow({ type: 2, custom_id: 'a', style: 1, label: 'b' }),
    labeled({ type: 4, custom_id: 'a', style: 1, label: 'b' }),
    labeled({ type: 3, custom_id: 'a', options: [{ label: 'b', value: 'b' }], disabled: true }),
  ];
  await bot(discord, async (interaction) => {
    const url = `/interactions/${interaction.id}/${interaction.token}/callback`;
    if (interaction.isAutocomplete()) {
      const choices = Array.from({ length: 26 }, (_, index) => ({ name: 'n', value: `${index}` }));
      const single = [{ name: '' }, { value: 'x'.repeat(101) }, { value: 5 }].map((one) => [{ ...choices[0], ...one }]);
      for (const list of [choices, ...single])
        errors.push((await call(discord, 'POST', url, { type: 8, data: { choices: list } }, OPEN)).body.code);
      await interaction.respond(choices.slice(0, 25));
    } else {
      for (const data of bad) errors.push((await call(discord, 'POST', url, { type: 9, data }, OPEN)).body.code);
      if (interaction.isCommand()) await interaction.reply('ok');
    }
  });
  await discord.use({ ...GENERAL, kind: 'command', name: 'ping' });
  const asked = await discord.use({ ...MAX, kind: 'autocomplete', name: 'watch add', focused: 'address' });
  expect(asked.state.choices).toHaveLength(25);
  expect(errors).toEqual(Array(9).fill(50035));
});
