import { describe, expect, it } from 'vitest';
import { call, codeAt, standIn } from './bot.ts';

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
const LIMITS: [name: string, limit: number, make: (size: number) => object, path: string][] = [
  ['its name is longer than 32 characters', 32, (size) => command({ name: text(size) }), 'name'],
  ['its description is longer than 100', 100, (size) => command({ description: text(size) }), 'description'],
  ['it has more than 25 options', 25, (size) => options(...several(size)), 'options'],
  [
    'an option has more than 25 choices',
    25,
    (size) => options(option({ choices: choices(size) })),
    'options.0.choices',
  ],
  [
    'a translated description is longer than 100 characters',
    100,
    (size) => options(option({ description_localizations: { de: text(size) } })),
    'options.0.description_localizations.de',
  ],
  [
    'a translated name of a choice is longer than 100 characters',
    100,
    (size) => options(option({ choices: [{ name: 'a', value: 'a', name_localizations: { de: text(size) } }] })),
    'options.0.choices.0.name_localizations.de',
  ],
];

const COMMANDS: Case[] = [
  ['it has no name', { description: 'd' }, 'name', command({})],
  ['its name contains a space', command({ name: 'to ken' }), 'name', command({ name: 'to-ken_2' })],
  ['its name is not in lower case', command({ name: 'Token' }), 'name', command({ name: 'tökén' })],
  ['it has no description', { name: 'token' }, 'description', command({})],
  ['the name of an option contains a space', options(option({ name: 'An Option' })), 'options.0.name', command({})],
  [
    'two options have the same name',
    options(option({}), option({})),
    'options.1.name',
    options(option({}), option({ name: 'b' })),
  ],
  [
    'a required option follows an optional one',
    options(option({}), option({ name: 'b', required: true })),
    'options.1.required',
    options(option({ required: true }), option({ name: 'b' })),
  ],
  ['an option has no description', options({ type: 3, name: 'a' }), 'options.0.description', options(option({}))],
  ['a description is blank', options(option({ description: ' ' })), 'options.0.description', options(option({}))],
  ['it lists a context twice', command({ contexts: [0, 1, 0] }), 'contexts.2', command({ contexts: [0, 1] })],
  [
    'the name of a choice is blank',
    options(option({ choices: [{ name: ' ', value: 'a' }] })),
    'options.0.choices.0.name',
    options(option({ choices: [{ name: 'a ', value: 'a' }] })),
  ],
  [
    'an option has choices and autocomplete',
    options(option({ choices: choices(1), autocomplete: true })),
    'options.0',
    options(option({ autocomplete: true })),
  ],
  [
    'an option for neither text nor numbers has autocomplete',
    options(option({ autocomplete: true, type: 5 })),
    'options.0.autocomplete',
    options(option({ autocomplete: true, type: 4 })),
  ],
  [
    'the minimum of an option is above its maximum',
    options(option({ min_length: 5, max_length: 4 })),
    'options.0.min_length',
    options(option({ min_length: 4, max_length: 4 })),
  ],
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
  ['the type of an option is unknown', options(option({ type: 77 })), 'options.0.type', options(option({ type: 8 }))],
  [
    'a locale is unknown',
    command({ name_localizations: { xx: 'a' } }),
    'name_localizations',
    command({ name_localizations: { de: 'a' } }),
  ],
  [
    'a translated name of an option contains a space',
    options(option({ name_localizations: { ja: '名 前' } })),
    'options.0.name_localizations.ja',
    options(option({ name_localizations: { ja: '名前' } })),
  ],
  ['its longest translations have more than 8,000', options(...localized(4)), '', options(...localized(2))],
  [
    'it is a context menu with a description',
    { type: 3, name: 'Look Up', description: 'd' },
    'description',
    { type: 3, name: 'Look Up' },
  ],
  [
    'its texts have more than 8,000 characters',
    options(...several(4, { choices: long })),
    '',
    options(...several(2, { choices: choices(25) })),
  ],
  ...LIMITS.map(([name, limit, make, path]): Case => [name, make(limit + 1), path, make(limit)]),
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
    expect(await call(discord, 'PUT', url, many(101))).toMatchObject({ status: 400, body: { code: 30032 } });
    expect(await call(discord, 'PUT', url, many(100))).toMatchObject({ status: 200 });
    expect(await call(discord, 'POST', url, command({}))).toMatchObject({ status: 400, body: { code: 30032 } });
    const menu = (count: number) => Array.from({ length: count }, (_, i) => ({ type: 3, name: `Do ${i}` }));
    expect(await call(discord, 'PUT', url, menu(16))).toMatchObject({ status: 400, body: { code: 30032 } });
    expect(await call(discord, 'PUT', url, menu(15))).toMatchObject({ status: 200 });
    expect(await call(discord, 'POST', url, { type: 3, name: 'More' })).toMatchObject({ body: { code: 30032 } });
    expect(await call(discord, 'POST', url, command({}))).toMatchObject({ status: 201 });
  });
});
