import { type APIApplicationCommandOptionChoice, ApplicationCommandOptionType } from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import type { Choices } from '../../src/domain/subscription.ts';
import { type Language, nameIn, wordingsOf } from '../../src/languages/index.ts';
import { channel, choice, flag, integer, role, text } from '../shared/define.ts';
import { MAX_NAME } from '../shared/naming.ts';
import { bookOf } from '../shared/read-address.ts';
import type { Context } from '../shared/services.ts';
import { readChoice } from '../shared/suggestions.ts';
import type { Reading } from './field-values.ts';
import { readChoices } from './fields.ts';
import { PLACE_TYPES } from './forum-post.ts';
import { tokenBook } from './token-book.ts';

const same = (...values: string[]): APIApplicationCommandOptionChoice<string>[] =>
  values.map((value) => ({ name: value, value }));

/** The options with fixed choices, with their English names. */
export const CHOICES_OF = {
  direction: same('any', 'incoming', 'outgoing'),
  kind: [
    { name: 'any', value: 'any' },
    { name: 'native coin', value: 'native' },
    { name: 'ERC-20 tokens', value: 'erc20' },
    { name: 'NFTs', value: 'nft' },
  ],
  digest: same('off', 'hourly', 'daily'),
  style: [{ name: 'as the server', value: 'default' }, ...same('compact', 'full')],
};

export const choiceName = (option: keyof typeof CHOICES_OF, value: string, language: Language): string =>
  wordingsOf(language)[`subscription edit ${option}=${value}`]?.name ??
  CHOICES_OF[option].find((one) => one.value === value)!.name;

/** The options that a preset sets, as texts. */
const PRESETS: Record<string, Record<string, string>> = {
  everything: { direction: 'any', kind: 'any', zero: 'yes', self: 'yes', internal: 'yes', cataloged: 'no' },
  large: { minimum: '1000', minimums: 'native=1' },
  nfts: { kind: 'nft' },
  'spam-safe': { cataloged: 'yes', zero: 'no', self: 'no' },
};
const PRESET_CHOICES = [
  { name: 'everything, even zero amounts', value: 'everything' },
  { name: 'large only: from 1,000 tokens or 1 native coin', value: 'large' },
  { name: 'NFTs', value: 'nfts' },
  { name: 'spam-safe: cataloged tokens only', value: 'spam-safe' },
];

const CLEARS = ' ("none" removes it)';

/** The options that `add` and `edit` share, in one order. */
export function sharedOptions(isEdit: boolean) {
  const clears = isEdit ? CLEARS : '';
  const target = isEdit
    ? 'Where its alerts go from now on'
    : 'Where alerts go (default: the server’s alert channel, otherwise here)';
  return [
    channel('channel', target, PLACE_TYPES),
    text('label', `A name for the address, shown in alerts${clears}`, { max_length: MAX_NAME }),
    choice('direction', 'Only transfers in this direction, seen from the address', CHOICES_OF.direction),
    choice('kind', 'Only transfers of this kind', CHOICES_OF.kind),
    text('minimum', `Only amounts of at least this, in token units, like 250 or 0.5${clears}`, { max_length: 60 }),
    text('token', `Only transfers of this token: address or symbol${clears}`, { autocomplete: true, max_length: 300 }),
    role('mention', isEdit ? 'A role to ping with each alert (@everyone removes it)' : 'A role to ping'),
    choice('preset', 'Start from a ready-made set of filters; other options override it', PRESET_CHOICES),
  ];
}

const list = (name: string, description: string) => text(name, `${description}${CLEARS}`, { max_length: 3_000 });

/** The options that only `edit` has; the panel shows them as forms. */
export const EDIT_OPTIONS = [
  list('minimums', 'Minimum per token, like USDC=100, ETH=0.5'),
  list('tokens', 'Only these tokens: addresses, symbols or "native"'),
  list('exclude-tokens', 'Exclude these tokens: addresses, symbols or "native"'),
  list('counterparties', 'Only transfers from or to these addresses'),
  list('exclude-counterparties', 'Exclude transfers from or to these addresses'),
  flag('internal', 'Include native transfers that contracts make inside a transaction'),
  flag('cataloged', 'Only tokens in the explorer’s catalog'),
  flag('zero', 'Include transfers of zero amounts'),
  flag('self', 'Include transfers from the address to itself'),
  choice('digest', 'Send one hourly or daily summary instead of single alerts', CHOICES_OF.digest),
  text('quiet', 'Hold alerts during these hours, like 22:00-07:00, or "off"', { max_length: 20 }),
  text('mention-minimum', `Ping only for at least this amount, in token units${CLEARS}`, { max_length: 60 }),
  integer('mention-cooldown', 'Minutes between two pings', 0, 10_080),
  flag('silence', 'Warn me when a busy address goes quiet'),
  choice('style', 'How its alerts look: two lines, or a tall card with every detail', CHOICES_OF.style),
];

/** The context for reading one person's options about a subscription on one network, or on any. */
export async function readingOf(guildId: string, network: number | null, context: Context): Promise<Reading> {
  const { t, language, settings } = context;
  const called = (name: string) => nameIn(language, `subscription edit ${name}`);
  const valueName = (option: keyof typeof CHOICES_OF, value: string) => choiceName(option, value, language);
  const names = await bookOf(guildId, context);
  const tokens = await tokenBook(guildId, context, names, network);
  return { t, guildId, tokens, names, called, valueName, language, hasPrices: settings.hasPrices };
}

/** Applies the person's options to the previous choices; throws a {@link UserError} for an invalid one. */
export function readOptions(interaction: CommandUse, reading: Reading, before: Choices, context: Context): Choices {
  const { options, guildId } = interaction;
  const editing = options.getSubcommand() === 'edit';
  const named = options.getString('preset');
  const preset =
    named === null ? {} : PRESETS[readChoice('subscription edit preset', named, Object.keys(PRESETS), context)]!;
  const input = (name: string): string | undefined => {
    const given = options.get(name);
    if (!given) return preset[name];
    // In Discord @everyone is a selectable role. Here it means "none".
    if (given.type === ApplicationCommandOptionType.Role && given.value === guildId && editing) return 'none';
    return String(given.value);
  };
  return readChoices(input, before, reading);
}
