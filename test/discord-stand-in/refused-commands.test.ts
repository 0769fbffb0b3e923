import { describe, expect, it } from 'vitest';
import { call, codeAt, refusal, standIn } from './bot.ts';

type Case = [name: string, bad: object, path: string, good: object];

const command = (more: object) => ({ name: 'token', description: 'd', ...more });
const option = (more: object) => ({ type: 3, name: 'a', description: 'd', ...more });
const options = (...list: object[]) => command({ options: list });
const choices = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `n${i}`, value: `v${i}` }));

const subcommand = (name: string, ...list: object[]) => ({ type: 1, name, description: 'd', options: list });
const text = (length: number) => 'x'.repeat(length);
const several = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => option({ name: `o${index}`, ...more }));

/** Returns 25 options with long texts in German and French only; each has `count` choices of 100 characters there. */
const localized = (count: number) => {
  const long = { de: text(100), fr: text(100) };
  const named = choices(count).map((choice) => ({ ...choice, name_localizations: long }));
  return several(25, { description_localizations: long, choices: named });
};
const long = choices(25).map((choice) => ({ ...choice, value: choice.value.padEnd(100) }));

/** What is refused from one more than the limit on. */
type Limit = [name: string, limit: number, make: (size: number) => object, path: string];

const atLimit = ([name, limit, make, path]: Limit): Case => [name, make(limit + 1), path, make(limit)];

const OPTION_LIMITS: Limit[] = [
  ['an option has more than 25 choices', 25, (size) => ({ choices: choices(size) }), 'choices'],
  [
    'a translated description is longer than 100 characters',
    100,
    (size) => ({ description_localizations: { de: text(size) } }),
    'description_localizations.de',
  ],
  [
    'a translated name of a choice is longer than 100 characters',
    100,
    (size) => ({ choices: [{ name: 'a', value: 'a', name_localizations: { de: text(size) } }] }),
    'choices.0.name_localizations.de',
  ],
];

/** Faults of a command's only option. */
const OPTIONS: Case[] = [
  ['the name of an option contains a space', { name: 'An Option' }, 'name', {}],
  ['an option has no description', { description: undefined }, 'description', {}],
  ['a description is blank', { description: ' ' }, 'description', {}],
  [
    'the name of a choice is blank',
    { choices: [{ name: ' ', value: 'a' }] },
    'choices.0.name',
    { choices: [{ name: 'a ', value: 'a' }] },
  ],
  ['an option has choices and autocomplete', { choices: choices(1), autocomplete: true }, '', { autocomplete: true }],
  [
    'an option for neither text nor numbers has autocomplete',
    { autocomplete: true, type: 5 },
    'autocomplete',
    { autocomplete: true, type: 4 },
  ],
  [
    'the minimum of an option is above its maximum',
    { min_length: 5, max_length: 4 },
    'min_length',
    { min_length: 4, max_length: 4 },
  ],
  ['the type of an option is unknown', { type: 77 }, 'type', { type: 8 }],
  [
    'a translated name of an option contains a space',
    { name_localizations: { ja: '名 前' } },
    'name_localizations.ja',
    { name_localizations: { ja: '名前' } },
  ],
  ...OPTION_LIMITS.map(atLimit),
];

const COMMAND_LIMITS: Limit[] = [
  ['its name is longer than 32 characters', 32, (size) => command({ name: text(size) }), 'name'],
  ['its description is longer than 100', 100, (size) => command({ description: text(size) }), 'description'],
  ['it has more than 25 options', 25, (size) => options(...several(size)), 'options'],
];

const menu = { type: 3, name: 'Look Up' };
const required = option({ required: true });
const other = option({ name: 'b' });

const COMMANDS: Case[] = [
  ['it has no name', { description: 'd' }, 'name', command({})],
  ['its name contains a space', command({ name: 'to ken' }), 'name', command({ name: 'to-ken_2' })],
  ['its name is not in lower case', command({ name: 'Token' }), 'name', command({ name: 'tökén' })],
  ['it has no description', { name: 'token' }, 'description', command({})],
  ['two options have the same name', options(option({}), option({})), 'options.1.name', options(option({}), other)],
  [
    'a required option follows an optional one',
    options(other, required),
    'options.1.required',
    options(required, other),
  ],
  ['it lists a context twice', command({ contexts: [0, 1, 0] }), 'contexts.2', command({ contexts: [0, 1] })],
  [
    'it has an option next to a subcommand',
    options(subcommand('add'), option({})),
    'options.1',
    options(subcommand('add'), subcommand('del')),
  ],
  [
    'two options of a subcommand have the same name',
    options(subcommand('add', option({}), option({}))),
    'options.0.options.1.name',
    options(subcommand('add', option({}))),
  ],
  [
    'a locale is unknown',
    command({ name_localizations: { xx: 'a' } }),
    'name_localizations',
    command({ name_localizations: { de: 'a' } }),
  ],
  ['its longest translations have more than 8,000', options(...localized(4)), '', options(...localized(2))],
  ['it is a context menu with a description', { ...menu, description: 'd' }, 'description', menu],
  [
    'its texts have more than 8,000 characters',
    options(...several(4, { choices: long })),
    '',
    options(...several(2, { choices: choices(25) })),
  ],
  ...COMMAND_LIMITS.map(atLimit),
  ...OPTIONS.map(([name, bad, path, good]): Case => {
    return [name, options(option(bad)), `options.0${path && `.${path}`}`, options(option(good))];
  }),
];

describe('commands', () => {
  it.each(COMMANDS)('refuses a command with 50035 when %s', async (_name, bad, path, good) => {
    const discord = await standIn({ limits: 'none' });
    const url = `/applications/${discord.botId}/commands`;
    const refused = await call(discord, 'POST', url, bad);
    expect(refused).toMatchObject({ status: 400, body: { code: 50035 } });
    expect(codeAt(refused.body.errors, path), JSON.stringify(refused.body.errors)).toEqual(expect.any(String));
    expect(await call(discord, 'POST', url, good)).toMatchObject({ status: 201 });
    const bulk = await call(discord, 'PUT', url, [good, bad]);
    expect(codeAt(bulk.body.errors, path === '' ? '1' : `1.${path}`)).toEqual(expect.any(String));
  });

  it('refuses repeated names in a bulk registration, and more than 100 commands or 15 in menus', async () => {
    const discord = await standIn({ limits: 'none' });
    const url = `/applications/${discord.botId}/commands`;
    const twice = await call(discord, 'PUT', url, [command({}), command({})]);
    expect(codeAt(twice.body.errors, '1.name')).toBe('APPLICATION_COMMANDS_DUPLICATE_NAME');
    const many = (count: number) => Array.from({ length: count }, (_, i) => command({ name: `c${i}` }));
    expect(refusal(await call(discord, 'PUT', url, many(101)))).toEqual([400, 30032]);
    expect(await call(discord, 'PUT', url, many(100))).toMatchObject({ status: 200 });
    expect(refusal(await call(discord, 'POST', url, command({})))).toEqual([400, 30032]);
    const menus = (count: number) => Array.from({ length: count }, (_, i) => ({ type: 3, name: `Do ${i}` }));
    expect(refusal(await call(discord, 'PUT', url, menus(16)))).toEqual([400, 30032]);
    expect(await call(discord, 'PUT', url, menus(15))).toMatchObject({ status: 200 });
    expect(await call(discord, 'POST', url, { type: 3, name: 'More' })).toMatchObject({ body: { code: 30032 } });
    expect(await call(discord, 'POST', url, command({}))).toMatchObject({ status: 201 });
  });
});
