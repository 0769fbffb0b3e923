import { describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { defined } from './defined.ts';
import { isPrivate, seed, startWorld, textOf } from './world.ts';

const world = await forFile(startWorld());

describe('/help', () => {
  it('lists every command and no other in the help', async () => {
    const answer = await world.use('help', {}, { as: seed.mia });
    expect(answer).toSatisfy(isPrivate);
    const reported = [...textOf(answer).matchAll(/^`\/([a-z ]+)` – .+$/gm)].map(([, path]) => path!);
    expect(reported.toSorted()).toEqual([...defined.keys()].filter((path) => path !== 'help').toSorted());
  });

  it('starts the help with the first steps, as clickable commands', async () => {
    const { reply } = await world.use('help');
    const id = world.discord.state.commands[0]!.commands.find(({ name }) => name === 'setup')!.id;
    expect(reply!.message.embeds[0]!.description).toMatch(new RegExp(`### Start here\\n1\\. .*</setup check:${id}>`));
    expect(await world.read('help', {}, { as: seed.mia })).toContain('Ask a manager');
  });

  it('names commands in the reader’s language, not as mentions that show another', async () => {
    world.speak('de');
    const { description } = (await world.use('help')).reply!.message.embeds[0]!;
    expect(description).toContain('1. `/einrichten prüfen`');
    expect(description).not.toContain('</setup');
  });

  it('marks commands that need a manager in the help', async () => {
    const text = await world.read('help', {}, { as: seed.mia });
    expect(text).toMatch(/`\/webhook list` – .* 🔒$/m);
    expect(text).not.toMatch(/`\/subscription list` – .* 🔒$/m);
    expect(text).toContain('🔒 requires');
  });

  it('lists the command of a message’s menu in the section about watching addresses', async () => {
    const [, , watching = ''] = (await world.read('help')).split('### ');
    expect(watching).toMatch(/^Watch addresses\n[\s\S]*\*\*Watch addresses in this message\*\*/);
  });
});
