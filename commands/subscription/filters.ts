import type { SlashCommandSubcommandBuilder } from 'discord.js';
import type { CommandSettings, CommandUse } from '../../src/discord/command.ts';
import { parseAddress } from '../../src/domain/address.ts';
import { isAmount } from '../../src/domain/amount.ts';
import type { DirectionFilter, KindFilter, Subscription } from '../../src/domain/subscription.ts';
import { looksLikeLink, plainText } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { TARGET_TYPES } from '../parts/channel.ts';
import { fullAddress } from '../parts/reply.ts';

/** What a subscription can be narrowed to, and how it is shown. */
export type Filters = Pick<Subscription, 'label' | 'direction' | 'kind' | 'minimum' | 'token' | 'mention'>;

/** Everything is told. */
export const NO_FILTERS: Filters = {
  label: null,
  direction: 'any',
  kind: 'any',
  minimum: null,
  token: null,
  mention: null,
};

/** The options that `add` and `edit` share, in one order. */
export function addFilterOptions(command: SlashCommandSubcommandBuilder): SlashCommandSubcommandBuilder {
  const clears = command.name === 'edit' ? ' ("none" removes it)' : '';
  return command
    .addChannelOption((option) =>
      option
        .setName('channel')
        .setDescription('Where alerts go (default: the server’s alert channel, or here)')
        .addChannelTypes(...TARGET_TYPES),
    )
    .addStringOption((option) =>
      option.setName('label').setDescription(`A name for the address, shown in alerts${clears}`).setMaxLength(32),
    )
    .addStringOption((option) =>
      option
        .setName('direction')
        .setDescription('Only transfers that go this way, seen from the address')
        .addChoices(
          { name: 'any', value: 'any' },
          { name: 'incoming', value: 'incoming' },
          { name: 'outgoing', value: 'outgoing' },
        ),
    )
    .addStringOption((option) =>
      option
        .setName('kind')
        .setDescription('Only transfers of this kind')
        .addChoices(
          { name: 'any', value: 'any' },
          { name: 'native coin', value: 'native' },
          { name: 'ERC-20 tokens', value: 'erc20' },
          { name: 'NFTs', value: 'nft' },
        ),
    )
    .addStringOption((option) =>
      option
        .setName('minimum')
        .setDescription(`Only amounts of at least this, in the token’s units, like 250 or 0.5${clears}`)
        .setMaxLength(60),
    )
    .addStringOption((option) =>
      option.setName('token').setDescription(`Only transfers of the token at this address${clears}`).setMaxLength(60),
    )
    .addRoleOption((option) =>
      option
        .setName('mention')
        .setDescription(
          command.name === 'edit' ? 'A role to ping with each alert (@everyone removes it)' : 'A role to ping',
        ),
    );
}

/** What the person set, over what was there before; throws a {@link UserError} for what cannot be. */
export function readFilters(t: Translate, { options, guildId }: CommandUse, before: Filters): Filters {
  const said = <T>(name: string, keep: T, read: (text: string) => T): T => {
    const text = options.getString(name)?.trim();
    return text === undefined ? keep : read(text);
  };
  const editing = options.getSubcommand() === 'edit';
  const clearable =
    <T>(read: (text: string) => T) =>
    (text: string) =>
      editing && text.toLowerCase() === 'none' ? null : read(text);
  const role = options.getRole('mention');
  if (role && role.id === guildId && !editing) {
    throw new UserError('I never ping @everyone. Choose a role that the right people have.');
  }
  const filters: Filters = {
    label: said('label', before.label, clearable(readLabel)),
    direction: said('direction', before.direction, (text) => text as DirectionFilter),
    kind: said('kind', before.kind, (text) => text as KindFilter),
    minimum: said('minimum', before.minimum, clearable(readMinimum)),
    token: said(
      'token',
      before.token,
      clearable((text) => readToken(t, text)),
    ),
    mention: role === null ? before.mention : role.id === guildId ? null : role.id,
  };
  checkTogether(filters);
  return filters;
}

function readLabel(text: string): string {
  const plain = plainText(text);
  if (plain === null) throw new UserError('This label has no visible characters. Use a short name like `Treasury`.');
  if (looksLikeLink(plain)) {
    throw new UserError('This label looks like a link, which alerts never show. Use a plain name like `Treasury`.');
  }
  return plain;
}

function readMinimum(text: string): string {
  if (isAmount(text)) return text;
  throw new UserError(
    'The minimum is an amount in the token’s own units: digits with at most one dot, like `250` or `0.5`, without ' +
      'separators or a symbol.',
  );
}

function readToken(t: Translate, text: string) {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  throw new UserError(`The token is not right: ${t(`address.${parsed.fault}`)}`);
}

function checkTogether({ kind, token, minimum }: Filters): void {
  if (kind === 'native' && token !== null) {
    throw new UserError('The native coin has no token address, so nothing would ever match. Leave out one of the two.');
  }
  if (kind === 'nft' && minimum !== null) {
    throw new UserError('NFTs are counted, not measured, so a minimum has no meaning. Leave out one of the two.');
  }
}

/** What is told, in words. */
export function describe(filters: Filters, settings: Pick<CommandSettings, 'explorerUrl'>): string {
  const { direction, kind, minimum, token, mention } = filters;
  const kinds: Record<KindFilter, string> = { any: '', native: 'native coin', erc20: 'ERC-20', nft: 'NFT' };
  const first = [direction === 'any' ? '' : direction, kinds[kind]].filter(Boolean).join(' ');
  const parts = [
    first ? `${first} transfers` : 'every transfer',
    minimum === null ? null : `at least \`${minimum}\``,
    token === null ? null : `token ${fullAddress(token, settings, 'token')}`,
    mention === null ? null : `pings <@&${mention}>`,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}
