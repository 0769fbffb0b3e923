import { ApplicationCommandOptionType } from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import type { Choices } from '../../src/domain/subscription.ts';
import { nameIn } from '../../src/languages/index.ts';
import { channel, choice, flag, integer, role, text } from '../shared/define.ts';
import { namesByAddress } from '../shared/names.ts';
import type { Context } from '../shared/services.ts';
import { readChoice } from '../shared/suggestions.ts';
import { tokenBook } from '../shared/tokens.ts';
import type { Reading } from './field-values.ts';
import { CLEARS, choiceName, FIELDS, type Field, readChoices } from './fields.ts';
import { PLACE_TYPES } from './forum-post.ts';

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

const MAX_OPTION = 3_000;
const { label, direction, kind, minimum, token, mention, ...FIELDS_OF_EDIT } = FIELDS;

/** The options of `add` or `edit`, in one order. `edit` has all of them; for `add` the panel shows the rest as forms. */
export function optionsOf(command: 'add' | 'edit') {
  const isEdit = command === 'edit';
  const target = isEdit
    ? 'Where its alerts go from now on'
    : 'Where alerts go (default: the server’s alert channel, otherwise here)';
  const offered = (fields: Field[]) => fields.flatMap((field) => optionOf(field, isEdit));
  return [
    channel('channel', target, PLACE_TYPES),
    ...offered([label, direction, kind, minimum, token, mention]),
    choice('preset', 'Start from a ready-made set of filters; other options override it', PRESET_CHOICES),
    ...(isEdit ? offered(Object.values(FIELDS_OF_EDIT)) : []),
  ];
}

function optionOf({ kind, option, about, max, limit, choices }: Field, isEdit: boolean) {
  if (about === undefined) return [];
  switch (kind) {
    case 'text': {
      if (limit !== undefined) return integer(option, about, 0, limit);
      const looksUp = option === 'token' && { autocomplete: true };
      const limits = { ...looksUp, max_length: Math.min(max!, MAX_OPTION) };
      return text(option, isEdit ? about : about.replace(CLEARS, ''), limits);
    }
    case 'choice':
      return choice(option, about, choices!);
    case 'flag':
      return flag(option, about);
    case 'role':
      return role(option, isEdit ? `${about} with each alert (@everyone removes it)` : about);
  }
}

export async function readingOf(network: number | null, context: Context): Promise<Reading> {
  const { guildId, t, language, settings } = context;
  const called = (name: string) => nameIn(language, `subscription edit ${name}`);
  const kindName = (value: string) => choiceName(FIELDS.kind, value, language);
  const names = await namesByAddress(guildId, context);
  const tokens = await tokenBook(context, names, network);
  return { t, guildId, tokens, names, called, kindName, language, hasPrices: settings.hasPrices };
}

export function readOptions<Before extends Choices>(
  interaction: CommandUse,
  reading: Reading,
  before: Before,
  context: Context,
): Before {
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
