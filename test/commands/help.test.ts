import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe('/help', () => {
  it('lists every command and no other in the help', async () => {
    const answer = await world.use('help', {}, { as: seed.mia });
    expect(answer).toSatisfy(isPrivate);
    const reported = [...textOf(answer).matchAll(/^`\/([a-z ]+)` – .+$/gm)].map(([, path]) => path!);
    const known = commands.flatMap((command) => {
      if ('kind' in command) return [];
      const { name, options = [] } = command.data.toJSON();
      const subs = options.filter((option) => option.type === 1).map((option) => `${name} ${option.name}`);
      return subs.length > 0 ? subs : [name];
    });
    expect(reported.toSorted()).toEqual(known.filter((path) => path !== 'help').toSorted());
  });

  it('starts the help with the first steps, as clickable commands', async () => {
    const { reply } = await world.use('help');
    const id = world.discord.state.commands[0]!.commands.find(({ name }) => name === 'setup')!.id;
    expect(reply!.message.embeds[0]!.description).toMatch(new RegExp(`### Start here\\n1\\. .*</setup check:${id}>`));
    expect(textOf(await world.use('help', {}, { as: seed.mia }))).toContain('Ask a manager');
  });

  it('marks commands that need a manager in the help', async () => {
    const text = textOf(await world.use('help', {}, { as: seed.mia }));
    expect(text).toMatch(/`\/webhook list` – .* 🔒$/m);
    expect(text).not.toMatch(/`\/subscription list` – .* 🔒$/m);
    expect(text).toContain('🔒 requires');
  });

  it('lists the command of a message’s menu in the section about watching addresses', async () => {
    const [, , watching = ''] = textOf(await world.use('help')).split('### ');
    expect(watching).toMatch(/^Watch addresses\n[\s\S]*\*\*Watch addresses in this message\*\*/);
  });
});
