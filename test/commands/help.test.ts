import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe('/help', () => {
  it('tells of every command there is, and no other', async () => {
    const answer = await world.use('help', {}, { as: seed.mia });
    expect(isPrivate(answer)).toBe(true);
    const told = [...textOf(answer).matchAll(/^`\/([a-z ]+)` – .+$/gm)].map(([, path]) => path!);
    const known = commands.flatMap((command) => {
      if ('kind' in command) return [];
      const { name, options = [] } = command.data.toJSON();
      const subs = options.filter((option) => option.type === 1).map((option) => `${name} ${option.name}`);
      return subs.length > 0 ? subs : [name];
    });
    expect(told.toSorted()).toEqual(known.filter((path) => path !== 'help').toSorted());
  });

  it('starts with what to do first, in links that can be pressed', async () => {
    const { reply } = await world.use('help');
    const id = world.discord.state.commands[0]!.commands.find(({ name }) => name === 'setup')!.id;
    expect(reply!.message.embeds[0]!.description).toMatch(new RegExp(`### Start here\\n1\\. .*</setup check:${id}>`));
    expect(textOf(await world.use('help', {}, { as: seed.mia }))).toContain('Ask a manager');
  });

  it('marks what needs a manager', async () => {
    const text = textOf(await world.use('help', {}, { as: seed.mia }));
    expect(text).toMatch(/`\/webhook list` – .* 🔒$/m);
    expect(text).not.toMatch(/`\/subscription list` – .* 🔒$/m);
    expect(text).toContain('🔒 requires');
  });

  it('tells of the command in a message’s menu where it tells how to watch addresses', async () => {
    const [, , watching = ''] = textOf(await world.use('help')).split('### ');
    expect(watching).toMatch(/^Watch addresses\n[\s\S]*\*\*Watch addresses in this message\*\*/);
  });
});
