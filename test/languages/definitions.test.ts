import { REST } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { define } from '../../commands/shared/define.ts';
import { type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import { registerCommands } from '../../src/discord/register.ts';
import { wordingsOf } from '../../src/languages/index.ts';
import { definitions, TRANSLATED } from './files.ts';

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

describe.each(TRANSLATED)('the definitions in %s', (language) => {
  const wordings = wordingsOf(language);
  const defined = definitions();

  it('has a translation of every command, option and choice', () => {
    const missing = defined.filter(({ path, description }) => {
      const { name, description: reported } = wordings[path] ?? {};
      return name === undefined || (description !== null && reported === undefined);
    });
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it('translates only commands, options and choices that exist', () => {
    const known = new Set(defined.map(({ path }) => path));
    expect(Object.keys(wordings).filter((path) => !known.has(path))).toEqual([]);
  });

  it('translates definitions within Discord’s limits', () => {
    const wrong = defined.flatMap(({ path, kind, description }) => {
      const { name, description: reported } = wordings[path] ?? {};
      const free = kind === 'choice' || kind === 'message command';
      const most = kind === 'choice' ? 100 : 32;
      const right = free ? name?.trim() === name && name?.length !== 0 : name === undefined || NAME.test(name);
      return [
        ...(right && (name?.length ?? 0) <= most && (free || name === name?.toLowerCase()) ? [] : [`${path}: ${name}`]),
        ...((reported?.length ?? 1) >= 1 && (reported?.length ?? 0) <= 100
          ? []
          : [`${path}: ${reported} (${reported?.length})`]),
        ...(description === null && reported !== undefined ? [`${path} has no description in English`] : []),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('gives no two commands, options or choices the same name', () => {
    const names = defined.map(({ path, parent, name }) => `${parent} → ${wordings[path]?.name ?? name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('registration', () => {
  let discord: Discord;
  let register: (...wanted: Parameters<typeof registerCommands>[2]) => Promise<string>;
  beforeEach(async () => {
    discord = await startDiscord({ limits: 'none' });
    const rest = new REST({ api: discord.apiUrl }).setToken(discord.token);
    register = async (...wanted) => (await registerCommands(rest, discord.botId, wanted)).outcome;
  });
  afterEach(() => discord.close());
  const wordy = (german: string) => ({
    data: { ...define('x', 'x'), description_localizations: { de: german } },
  });

  it('registers every language, and nothing again that Discord already has', async () => {
    expect(await register(...commands)).toBe('registered');
    const help = discord.state.commands[0]!.commands.find(({ name }) => name === 'help')!;
    expect(Object.keys(help.name_localizations!).sort()).toEqual(TRANSLATED.toSorted());
    expect(Object.keys(help.description_localizations!).sort()).toEqual(TRANSLATED.toSorted());
    expect(await register(...commands)).toBe('unchanged');
  });

  it('counts a changed word in one language as a change', async () => {
    const outcomes = [];
    for (const german of ['a', 'a', 'b']) outcomes.push(await register(wordy(german)));
    expect(outcomes).toEqual(['registered', 'unchanged', 'registered']);
  });
});
