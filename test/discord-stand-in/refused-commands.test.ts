import { beforeEach, describe, expect, it } from 'vitest';
import { startDiscord } from '../../sandbox/discord/index.ts';
import { forFile } from '../for-file.ts';
import { atLimit, type Case, call, codeAt, type Limit, refusal } from './bot.ts';

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

const choice = (name: string) => ({ choices: [{ name, value: 'a' }] });
const suggesting = (type: number) => ({ autocomplete: true, type });
const between = (min_length: number, max_length: number) => ({ min_length, max_length });
const inJapanese = (ja: string) => ({ name_localizations: { ja } });

/** Faults of a command's only option. */
const OPTIONS: Case[] = [
  ['the name of an option contains a space', { name: 'An Option' }, 'name', {}],
  ['an option has no description', { description: undefined }, 'description', {}],
  ['a description is blank', { description: ' ' }, 'description', {}],
  ['the name of a choice is blank', choice(' '), 'choices.0.name', choice('a ')],
  ['an option has choices and autocomplete', { choices: choices(1), autocomplete: true }, '', { autocomplete: true }],
  ['an option for neither text nor numbers has autocomplete', suggesting(5), 'autocomplete', suggesting(4)],
  ['the minimum of an option is above its maximum', between(5, 4), 'min_length', between(4, 4)],
  ['the type of an option is unknown', { type: 77 }, 'type', { type: 8 }],
  ['a translated name has a space', inJapanese('名 前'), 'name_localizations.ja', inJapanese('名前')],
  ...OPTION_LIMITS.map(atLimit),
];

const COMMAND_LIMITS: Limit[] = [
  ['its name is longer than 32 characters', 32, (size) => command({ name: text(size) }), 'name'],
  ['its description is longer than 100', 100, (size) => command({ description: text(size) }), 'description'],
  ['it has more than 25 options', 25, (size) => options(...several(size)), 'options'],
];

const menu = { type: 3, name: 'Look Up' };
const required = option({ required: true });
const [one, other] = [option({}), option({ name: 'b' })];
const [add, del] = [subcommand('add'), subcommand('del')];
const adding = (...list: object[]) => options(subcommand('add', ...list));
const inLocale = (locale: string) => command({ name_localizations: { [locale]: 'a' } });
const choosing = (count: number, from: object[]) => options(...several(count, { choices: from }));

const COMMANDS: Case[] = [
  ['it has no name', { description: 'd' }, 'name', command({})],
  ['its name contains a space', command({ name: 'to ken' }), 'name', command({ name: 'to-ken_2' })],
  ['its name is not in lower case', command({ name: 'Token' }), 'name', command({ name: 'tökén' })],
  ['it has no description', { name: 'token' }, 'description', command({})],
  ['two options have the same name', options(one, one), 'options.1.name', options(one, other)],
  ['a required option is not the first', options(other, required), 'options.1.required', options(required, other)],
  ['it lists a context twice', command({ contexts: [0, 1, 0] }), 'contexts.2', command({ contexts: [0, 1] })],
  ['it has an option next to a subcommand', options(add, one), 'options.1', options(add, del)],
  ['a subcommand names two options alike', adding(one, one), 'options.0.options.1.name', adding(one, other)],
  ['a locale is unknown', inLocale('xx'), 'name_localizations', inLocale('de')],
  ['its longest translations have more than 8,000', options(...localized(4)), '', options(...localized(2))],
  ['it is a context menu with a description', { ...menu, description: 'd' }, 'description', menu],
  ['its texts have more than 8,000 characters', choosing(4, long), '', choosing(2, choices(25))],
  ...COMMAND_LIMITS.map(atLimit),
  ...OPTIONS.map(([name, bad, path, good]): Case => {
    return [name, options(option(bad)), `options.0${path && `.${path}`}`, options(option(good))];
  }),
];

const discord = await forFile(startDiscord({ limits: 'none' }));
const url = `/applications/${discord.botId}/commands`;
beforeEach(async () => void (await call(discord, 'PUT', url, [])));

describe('commands', () => {
  it.each(COMMANDS)('refuses a command with 50035 when %s', async (_name, bad, path, good) => {
    const refused = await call(discord, 'POST', url, bad);
    expect(refused).toMatchObject({ status: 400, body: { code: 50035 } });
    expect(codeAt(refused.body.errors, path), JSON.stringify(refused.body.errors)).toEqual(expect.any(String));
    expect(await call(discord, 'POST', url, good)).toMatchObject({ status: 201 });
    const bulk = await call(discord, 'PUT', url, [good, bad]);
    expect(codeAt(bulk.body.errors, path === '' ? '1' : `1.${path}`)).toEqual(expect.any(String));
  });

  it('refuses repeated names in a bulk registration, and more than 100 commands or 15 in menus', async () => {
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
