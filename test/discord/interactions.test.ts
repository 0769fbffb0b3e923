import { ApplicationCommandType, SlashCommandBuilder } from 'discord.js';
import { request } from 'undici';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Command, MessageCommand } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import { buttonsOf, isPrivate, seed, startWorld, textOf } from '../commands/world.ts';
import { forFile } from '../for-file.ts';
import { until } from '../until.ts';

const { harbor } = seed;
let behave: () => Promise<{ content: string }>;
let offer: () => Promise<{ name: string; value: string }[]>;
const probe: Command = {
  data: new SlashCommandBuilder()
    .setName('probe')
    .setDescription('Does what the test wants')
    .addStringOption((option) => option.setName('text').setDescription('Any').setAutocomplete(true))
    .toJSON(),
  access: 'all',
  execute: async () => ({
    ...(await behave()),
    components: [{ type: 1, components: [{ type: 2, style: 2, label: 'Again', custom_id: 'probe:again:1' }] }],
  }),
  autocomplete: () => offer(),
  buttons: { again: { access: 'all', press: () => behave() } },
};
const open: Command = {
  ...probe,
  data: new SlashCommandBuilder().setName('open').setDescription('Answers everybody').toJSON(),
  public: true,
};

const note: MessageCommand = {
  kind: 'message',
  data: { name: 'Note', type: ApplicationCommandType.Message },
  access: 'all',
  execute: () => behave(),
};
/** Opens a form that no command takes. */
const ask: Command = {
  ...probe,
  data: new SlashCommandBuilder().setName('ask').setDescription('Opens a form').toJSON(),
  forms: {},
  opens: {
    '': async () => {
      const field = { type: 4, custom_id: 'name', label: 'Name', style: 1, required: false } as const;
      return { custom_id: 'ask:constructor:1', title: 'Name', components: [{ type: 1, components: [field] }] };
    },
  },
};

const world = await forFile(startWorld({ commands: [probe, open, note, ask] }));
beforeEach(() => {
  behave = async () => ({ content: 'Done.' });
  offer = async () => [];
  world.logged.length = 0;
  world.discord.clearFaults();
});
const logged = (msg: string) => world.logged.filter((line) => line.msg === msg);

describe('answers', () => {
  it('replies in private unless the command is public', async () => {
    expect(await world.use('probe')).toSatisfy(isPrivate);
    expect(await world.use('open')).not.toSatisfy(isPrivate);
  });

  it('acknowledges an interaction before the command runs', async () => {
    const gate = Promise.withResolvers<{ content: string }>();
    behave = () => gate.promise;
    const used = await world.discord.use({
      kind: 'command',
      name: 'probe',
      userId: seed.mia,
      channelId: harbor.alerts,
    });
    expect(used.state).toMatchObject({ status: 'acknowledged', responseType: 5, loading: true });
    gate.resolve({ content: 'Late.' });
    expect(textOf(await used.final())).toBe('Late.');
  });

  it('shows a public command’s refusal in private, however long it takes', async () => {
    behave = () => Promise.reject(new UserError('Not so.'));
    const early = await world.use('open');
    expect([textOf(early), isPrivate(early), early.followups]).toEqual(['Not so.', true, []]);

    const gate = Promise.withResolvers<{ content: string }>();
    let running = 0;
    behave = () => {
      running++;
      return gate.promise;
    };
    const open = { kind: 'command', name: 'open', userId: seed.mia, channelId: harbor.alerts } as const;
    const used = [world.discord.begin(open), world.discord.begin(open)] as const;
    await until('both commands run', () => running === 2);
    world.clock.advance(1_000);
    await Promise.all(used.map((one) => one.acknowledged()));
    expect(used[0].state).toMatchObject({ responseType: 5, loading: true });
    // One of the two cannot be taken back.
    const away = { kind: 'error', status: 404, code: 0, message: '404: Not Found' } as const;
    world.discord.fault({ fault: away, method: 'DELETE', path: '/webhooks/**', times: 1 });
    gate.reject(new UserError('Too late.'));
    const late = await Promise.all(
      used.map((one) => one.until(({ reply, followups }) => followups.length > 0 || reply?.message.content !== '')),
    );
    const reported = late.map(({ reply, followups }) => followups[0] ?? reply!);
    expect(reported.map(({ message }) => message.content)).toEqual(['Too late.', 'Too late.']);
    expect(reported.map(({ visibleTo }) => visibleTo)).toEqual(expect.arrayContaining([seed.mia, null]));
    expect(late.map(({ reply }) => reply!.deleted)).toEqual(expect.arrayContaining([true, false]));
  });

  it('mentions nobody in a reply', async () => {
    behave = async () => ({ content: `@everyone <@&${harbor.watchers}> <@${seed.mia}>` });
    const { message } = (await world.use('open')).reply!;
    expect(message).toMatchObject({ mention_everyone: false, mention_roles: [], mentions: [] });
  });
});

describe('errors', () => {
  it('shows a UserError as it is', async () => {
    behave = () => Promise.reject(new UserError('Type a number like `5`.'));
    expect(textOf(await world.use('probe'))).toBe('Type a number like `5`.');
    expect(logged('command failed')).toEqual([]);
  });

  it('shows one sentence for any other error, with an ID that the log has too', async () => {
    behave = () => Promise.reject(new Error('connect to 10.0.0.1 with hunter2'));
    const answer = await world.use('probe');
    expect(textOf(answer)).not.toMatch(/hunter2|10\.0/);
    const id = /this ID: `([0-9a-f]{8})`/.exec(textOf(answer))?.[1];
    expect(logged('command failed')).toMatchObject([{ id, guild: harbor.id, interaction: 'probe' }]);
  });

  it('handles errors that Discord finds in the reply like any other', async () => {
    behave = async () => ({ content: 'x'.repeat(2_001) });
    const id = /this ID: `([0-9a-f]{8})`/.exec(textOf(await world.use('probe')))?.[1];
    expect(logged('command failed')).toMatchObject([{ id, err: { code: 50035 } }]);

    behave = async () => ({ content: 'Done.' });
    const shown = await world.use('probe');
    behave = async () => ({ content: 'x'.repeat(2_001) });
    const pressed = await world.press(shown, 'probe:again');
    expect(pressed.reply!.message.content).toBe('Done.');
    expect(pressed.followups[0]!.message.content).toMatch(/this ID/);
  });

  it('keeps the message when its button fails', async () => {
    const shown = await world.use('probe');
    behave = () => Promise.reject(new UserError('Not now.'));
    const pressed = await world.press(shown, 'probe:again');
    expect(pressed.reply!.message.content).toBe('Done.');
    expect(buttonsOf(pressed)).toEqual(['probe:again:1']);
    expect(pressed.followups.map(({ message }) => message.content)).toEqual(['Not now.']);
    expect(pressed.followups[0]!.visibleTo).toBe(seed.ada);
  });

  it('survives Discord’s own errors: an expired token, a deleted reply', async () => {
    const expired = { kind: 'error', status: 404, code: 10062, message: 'Unknown interaction' } as const;
    world.discord.fault({ fault: expired, path: '/interactions/**', times: 1 });
    let ran = false;
    behave = async () => {
      ran = true;
      return { content: 'x' };
    };
    world.discord.begin({ kind: 'command', name: 'probe', userId: seed.ada, channelId: harbor.alerts });
    await until('the log says so', () => logged('cannot respond to interaction').length > 0);
    expect(ran).toBe(false);
    const gone = { kind: 'error', status: 404, code: 10015, message: 'Unknown Webhook' } as const;
    world.discord.fault({ fault: gone, path: '/webhooks/**', times: 1 });
    world.discord.begin({ kind: 'command', name: 'probe', userId: seed.ada, channelId: harbor.alerts });
    await until('the log says so again', () => logged('cannot respond to interaction').length > 1);
    behave = async () => ({ content: 'Still here.' });
    expect(textOf(await world.use('probe'))).toBe('Still here.');
  });
});

describe('choices', () => {
  it('cuts choices to Discord’s limits', async () => {
    offer = async () => [
      { name: '', value: 'nameless' },
      { name: 'empty', value: '' },
      { name: 'long', value: 'x'.repeat(101) },
      { name: '😀'.repeat(80), value: 'smile' },
      ...Array.from({ length: 40 }, (_, n) => ({ name: `n${n}`, value: `v${n}` })),
    ];
    const choices = await world.choices('probe', 'text');
    expect(choices).toHaveLength(25);
    expect(choices[0]).toEqual({ name: 'nameless', value: 'nameless' });
    expect(choices[1]!.name.length).toBeLessThanOrEqual(100);
    expect(choices[1]!.name).toMatch(/^(😀)+…$/u);
  });

  it('offers no choices when they fail or hang', async () => {
    offer = () => Promise.reject(new Error('broken'));
    expect(await world.choices('probe', 'text')).toEqual([]);
    const asked = Promise.withResolvers<void>();
    offer = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const choices = world.choices('probe', 'text');
    await asked.promise;
    world.clock.advance(2_000);
    expect(await choices).toEqual([]);
  });
});

it('explains to people outside servers that the bot works only in servers, whatever they use', async () => {
  const here = { as: seed.mia, in: world.discord.act({ do: 'dm.open', userId: seed.mia }).id! };
  const message = { do: 'message.send', channelId: here.in, userId: seed.mia, content: 'x' } as const;
  const { id } = world.discord.act(message);
  for (const answer of [
    await world.use('probe', {}, here),
    await world.useOn(id!, 'Note', here),
    await world.press(await world.post('probe:again:1', here.in), 'probe:again', here),
  ]) {
    expect(textOf(answer)).toMatch(/only work in servers/);
  }
});

it('replies in private to the command of a message’s menu', async () => {
  const message = { do: 'message.send', channelId: harbor.alerts, userId: seed.mia, content: 'x' } as const;
  const used = await world.useOn(world.discord.act(message).id!, 'Note');
  expect([textOf(used), isPrivate(used)]).toEqual(['Done.', true]);
});

describe('commands and buttons of older versions', () => {
  it('explains how to get rid of commands that no longer exist', async () => {
    for (const body of [
      { name: 'gone', description: 'Of an older version' },
      { name: 'Gone', type: ApplicationCommandType.Message },
    ]) {
      await request(`${world.discord.apiUrl}/v10/applications/${world.discord.botId}/commands`, {
        method: 'POST',
        headers: { authorization: `Bot ${world.discord.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    }
    const message = { do: 'message.send', channelId: harbor.alerts, userId: seed.mia, content: 'x' } as const;
    const { id } = world.discord.act(message);
    for (const answer of [await world.use('gone'), await world.useOn(id!, 'Gone')]) {
      expect([textOf(answer), isPrivate(answer)]).toEqual([
        expect.stringMatching(/This command no longer exists/),
        true,
      ]);
    }
  });

  it('explains buttons and forms that nothing handles, also under a name that every object inherits', async () => {
    const form = await world.fill(await world.use('ask'), { name: 'x' });
    const buttons = ['probe:gone:1', 'probe:constructor:1', 'gone:again:1'];
    const pressed = await Promise.all(buttons.map(async (id) => world.press(await world.post(id), id)));
    for (const answer of [form, ...pressed]) expect(textOf(answer)).toMatch(/from an older version/);
  });
});
