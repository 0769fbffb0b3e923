import {
  type APIApplicationCommandOptionChoice,
  ApplicationCommandOptionType,
  type SlashCommandSubcommandBuilder,
} from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import type { Choices } from '../../src/domain/subscription.ts';
import { wordingsOf } from '../../src/languages/definitions.ts';
import type { ContextWith } from '../shared/services.ts';
import { TARGET_TYPES } from '../shared/target.ts';
import { readChoices } from './fields.ts';
import type { TokenBook } from './tokens.ts';

type Needs = ContextWith<never>;

const same = (...values: string[]): APIApplicationCommandOptionChoice<string>[] =>
  values.map((value) => ({ name: value, value }));

const DIRECTIONS = same('any', 'incoming', 'outgoing');
const KINDS = [
  { name: 'any', value: 'any' },
  { name: 'native coin', value: 'native' },
  { name: 'ERC-20 tokens', value: 'erc20' },
  { name: 'NFTs', value: 'nft' },
];

/** The options that `add` and `edit` share, in one order. */
export function addFilterOptions(command: SlashCommandSubcommandBuilder): SlashCommandSubcommandBuilder {
  const editing = command.name === 'edit';
  const clears = editing ? ' ("none" removes it)' : '';
  // What an edit does not name stays as it is.
  const unnamed = (value: string) => (editing ? '' : ` (default: ${value})`);
  const text = (name: string, description: string, most: number, choices: typeof DIRECTIONS = []) =>
    command.addStringOption((option) => {
      option.setName(name).setDescription(description);
      return choices.length > 0 ? option.addChoices(...choices) : option.setMaxLength(most);
    });
  const flag = (name: string, description: string) =>
    command.addBooleanOption((option) => option.setName(name).setDescription(description));

  command.addChannelOption((option) =>
    option
      .setName('channel')
      .setDescription(
        editing
          ? 'Where its alerts go from now on'
          : `Where alerts go${unnamed('the server’s alert channel, else here')}`,
      )
      .addChannelTypes(...TARGET_TYPES),
  );
  text('label', `A name for the address, shown in alerts${clears}`, 32);
  text('direction', 'Only transfers in this direction, seen from the address', 0, DIRECTIONS);
  text('kind', 'Only transfers of this kind', 0, KINDS);
  text('minimum', `Only amounts of at least this, in token units, like 250 or 0.5${clears}`, 60);
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
  text('minimums', `Minimum per token, like USDC=100, ETH=0.5${clears}`, 3_000);
  text('tokens', `Only these tokens: addresses, symbols or "native"${clears}`, 3_000);
  text('exclude-tokens', `Exclude these tokens: addresses, symbols or "native"${clears}`, 3_000);
  text('counterparties', `Only transfers from or to these addresses${clears}`, 3_000);
  text('exclude-counterparties', `Exclude transfers from or to these addresses${clears}`, 3_000);
  flag('internal', `Include native transfers that contracts make inside a transaction${unnamed('yes')}`);
  flag('cataloged', `Only tokens in the explorer’s catalog${unnamed('no')}`);
  flag('zero', `Include transfers of zero amounts${unnamed('no')}`);
  flag('self', `Include transfers from the address to itself${unnamed('no')}`);
  text('digest', 'Send one hourly or daily summary instead of single alerts', 0, same('off', 'hourly', 'daily'));
  text('quiet', 'Hold alerts during these hours, like 22:00-07:00, or "off"', 20);
  text('mention-minimum', `Ping only for at least this amount, in token units${clears}`, 60);
  command.addIntegerOption((option) =>
    option
      .setName('mention-cooldown')
      .setDescription(`Minutes between two pings${unnamed('5')}`)
      .setMinValue(0)
      .setMaxValue(10_080),
  );
  return flag('silence', `Warn me when a busy address goes quiet${unnamed('no')}`);
}

/** What the person set, over what was there before; throws a {@link UserError} for what cannot be. */
export function chosenBy(interaction: CommandUse, context: Needs, tokens: TokenBook, before: Choices): Choices {
  const { options, guildId } = interaction;
  const editing = options.getSubcommand() === 'edit';
  const said = (name: string): string | undefined => {
    const given = options.get(name);
    if (!given) return undefined;
    // In Discord @everyone is a role like others: the one thing to pick that can mean nobody.
    if (given.type === ApplicationCommandOptionType.Role && given.value === guildId && editing) return 'none';
    return String(given.value);
  };
  const wordings = wordingsOf(context.language);
  const called = (name: string) => wordings[`subscription add ${name}`]?.name ?? name;
  return readChoices(said, before, { t: context.t, guildId, tokens, called, language: context.language });
}
