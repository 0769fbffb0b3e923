import {
  type APIApplicationCommandOptionChoice,
  ApplicationCommandOptionType,
  type SlashCommandSubcommandBuilder,
} from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import type { Choices } from '../../src/domain/subscription.ts';
import { nameIn } from '../../src/languages/definitions.ts';
import { MAX_NAME } from '../shared/naming.ts';
import { withInput } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import type { Reading } from './field-values.ts';
import { readChoices } from './fields.ts';
import { PLACE_TYPES } from './forum-post.ts';
import type { TokenBook } from './token-book.ts';

const same = (...values: string[]): APIApplicationCommandOptionChoice<string>[] =>
  values.map((value) => ({ name: value, value }));

const DIRECTIONS = same('any', 'incoming', 'outgoing');
const KINDS = [
  { name: 'any', value: 'any' },
  { name: 'native coin', value: 'native' },
  { name: 'ERC-20 tokens', value: 'erc20' },
  { name: 'NFTs', value: 'nft' },
];

const STYLES = [
  { name: 'as the server', value: 'default' },
  { name: 'compact', value: 'compact' },
  { name: 'full', value: 'full' },
];

const DIGESTS = same('off', 'hourly', 'daily');

/** The options with fixed choices, with their English names. */
export const CHOICES_OF = { direction: DIRECTIONS, kind: KINDS, digest: DIGESTS, style: STYLES };

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

/** The options that `add` and `edit` share, in one order. */
export function addSharedOptions(command: SlashCommandSubcommandBuilder): SlashCommandSubcommandBuilder {
  const editing = command.name === 'edit';
  const clears = editing ? ' ("none" removes it)' : '';
  command.addChannelOption((option) =>
    option
      .setName('channel')
      .setDescription(
        editing
          ? 'Where its alerts go from now on'
          : 'Where alerts go (default: the server’s alert channel, otherwise here)',
      )
      .addChannelTypes(...PLACE_TYPES),
  );
  text(command, 'label', `A name for the address, shown in alerts${clears}`, MAX_NAME);
  choice(command, 'direction', 'Only transfers in this direction, seen from the address', DIRECTIONS);
  choice(command, 'kind', 'Only transfers of this kind', KINDS);
  text(command, 'minimum', `Only amounts of at least this, in token units, like 250 or 0.5${clears}`, 60);
  command.addStringOption((option) =>
    option
      .setName('token')
      .setDescription(`Only transfers of this token: address or symbol${clears}`)
      .setAutocomplete(true)
      .setMaxLength(300),
  );
  command.addRoleOption((option) =>
    option
      .setName('mention')
      .setDescription(editing ? 'A role to ping with each alert (@everyone removes it)' : 'A role to ping'),
  );
  return choice(command, 'preset', 'Start from a ready-made set of filters; other options override it', PRESET_CHOICES);
}

/** The options that only `edit` has; the panel shows them as forms. */
export function addMoreOptions(command: SlashCommandSubcommandBuilder): SlashCommandSubcommandBuilder {
  const clears = ' ("none" removes it)';
  const flag = (name: string, description: string) =>
    command.addBooleanOption((option) => option.setName(name).setDescription(description));
  text(command, 'minimums', `Minimum per token, like USDC=100, ETH=0.5${clears}`, 3_000);
  text(command, 'tokens', `Only these tokens: addresses, symbols or "native"${clears}`, 3_000);
  text(command, 'exclude-tokens', `Exclude these tokens: addresses, symbols or "native"${clears}`, 3_000);
  text(command, 'counterparties', `Only transfers from or to these addresses${clears}`, 3_000);
  text(command, 'exclude-counterparties', `Exclude transfers from or to these addresses${clears}`, 3_000);
  flag('internal', 'Include native transfers that contracts make inside a transaction');
  flag('cataloged', 'Only tokens in the explorer’s catalog');
  flag('zero', 'Include transfers of zero amounts');
  flag('self', 'Include transfers from the address to itself');
  choice(command, 'digest', 'Send one hourly or daily summary instead of single alerts', DIGESTS);
  text(command, 'quiet', 'Hold alerts during these hours, like 22:00-07:00, or "off"', 20);
  text(command, 'mention-minimum', `Ping only for at least this amount, in token units${clears}`, 60);
  command.addIntegerOption((option) =>
    option.setName('mention-cooldown').setDescription('Minutes between two pings').setMinValue(0).setMaxValue(10_080),
  );
  flag('silence', 'Warn me when a busy address goes quiet');
  return choice(command, 'style', 'How its alerts look: two lines, or a tall card with every detail', STYLES);
}

const text = (command: SlashCommandSubcommandBuilder, name: string, description: string, max: number) =>
  command.addStringOption((option) => option.setName(name).setDescription(description).setMaxLength(max));

const choice = (
  command: SlashCommandSubcommandBuilder,
  name: string,
  description: string,
  choices: typeof DIRECTIONS,
) =>
  command.addStringOption((option) =>
    option
      .setName(name)
      .setDescription(description)
      .addChoices(...choices),
  );

/** The context for reading one person's options. */
export function readingOf(guildId: string, { t, language }: ContextWith, tokens: TokenBook): Reading {
  const called = (name: string) => nameIn(language, `subscription edit ${name}`);
  return { t, guildId, tokens, called, language };
}

/** Applies the person's options to the previous choices; throws a {@link UserError} for an invalid one. */
export function readOptions(
  interaction: CommandUse,
  context: ContextWith,
  tokens: TokenBook,
  before: Choices,
): Choices {
  const { options, guildId } = interaction;
  const editing = options.getSubcommand() === 'edit';
  const preset = presetOf(options.getString('preset'), context);
  const input = (name: string): string | undefined => {
    const given = options.get(name);
    if (!given) return preset[name];
    // In Discord @everyone is a selectable role. Here it means "none".
    if (given.type === ApplicationCommandOptionType.Role && given.value === guildId && editing) return 'none';
    return String(given.value);
  };
  return readChoices(input, before, readingOf(guildId, context, tokens));
}

function presetOf(name: string | null, { t, language }: ContextWith): Record<string, string> {
  if (name === null) return {};
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name]!;
  const option = nameIn(language, 'subscription edit preset');
  throw withInput(invalidChoiceError(option, name, Object.keys(PRESETS), t), name, t);
}
