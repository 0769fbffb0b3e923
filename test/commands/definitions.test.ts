import { ApplicationCommandOptionType as Type } from 'discord.js';
import { expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { defined } from './defined.ts';

const channel = { type: Type.Channel };
const role = { type: Type.Role };
const offered = { type: Type.String, autocomplete: true };
const text = { type: Type.String };
const oneOf = (...values: string[]) => ({ type: Type.String, choices: values.map((value) => ({ value })) });
const filters = {
  channel,
  label: text,
  direction: oneOf('any', 'incoming', 'outgoing'),
  kind: oneOf('any', 'native', 'erc20', 'nft'),
  minimum: text,
  token: text,
  mention: role,
};

/** Scripts and habits rely on these; more commands and options may follow. */
const RELIED_ON: [string, Record<string, object>][] = [
  ['token', { address: offered }],
  ['provider search', { category: offered, search: text, provider: text, page: { type: Type.Integer } }],
  ['provider categories', {}],
  ['webhook list', {}],
  ['webhook remove', { webhook: offered, addresses: text }],
  ['subscription add', { address: text, ...filters }],
  ['subscription list', { channel }],
  ['subscription edit', { subscription: offered, ...filters }],
  ['subscription remove', { subscription: offered }],
  ['subscription pause', { subscription: offered }],
  ['subscription resume', { subscription: offered }],
  ['subscription test', { subscription: offered }],
  ['subscription mute', { subscription: text, duration: text }],
  ['subscription import', { file: { type: Type.Attachment } }],
  ['subscription export', {}],
  ['label set', { address: text, name: text }],
  ['label remove', { address: text }],
  ['label list', {}],
  ['activity', { address: offered, period: oneOf('24h', '7d', '30d') }],
  ['why', { transaction: text }],
  ['setup server', { channel, manager: role, timezone: text, language: text }],
  ['setup project', {}],
  ['setup check', {}],
  ['setup audit', {}],
  ['setup forget', {}],
  ['status', {}],
  ['help', {}],
];

it.each(RELIED_ON)('registers /%s with its fixed options', (name, options) => {
  const found = defined.get(name)!.options;
  expect(Object.fromEntries(found.map((option) => [option.name, option]))).toMatchObject(options);
});

it('offers the fixed durations of a mute', () => {
  const duration = defined.get('subscription mute')!.options.find(({ name }) => name === 'duration')!;
  expect(duration.choices!.map(({ value }) => value)).toEqual(expect.arrayContaining(['1h', '8h', '1d', '7d', 'off']));
});

it('replies in public to only two commands, which show nothing about their server', () => {
  const open = commands.filter((command) => 'public' in command && command.public === true);
  expect(open.map(({ data }) => data.name).sort()).toEqual(['provider', 'token']);
});
