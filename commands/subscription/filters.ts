import type { SlashCommandSubcommandBuilder } from 'discord.js';
import type { CommandContext, CommandUse } from '../../src/discord/command.ts';
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
export function readFilters({ options, guildId }: CommandUse, { t }: CommandContext, before: Filters): Filters {
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
    throw new UserError(t('subscription.filter.everyone'));
  }
  const filters: Filters = {
    label: said(
      'label',
      before.label,
      clearable((text) => readLabel(text, t)),
    ),
    direction: said('direction', before.direction, (text) => text as DirectionFilter),
    kind: said('kind', before.kind, (text) => text as KindFilter),
    minimum: said(
      'minimum',
      before.minimum,
      clearable((text) => readMinimum(text, t)),
    ),
    token: said(
      'token',
      before.token,
      clearable((text) => readToken(text, t)),
    ),
    mention: role === null ? before.mention : role.id === guildId ? null : role.id,
  };
  checkTogether(filters, t);
  return filters;
}

function readLabel(text: string, t: Translate): string {
  const plain = plainText(text);
  if (plain === null) throw new UserError(t('subscription.filter.invisible'));
  if (looksLikeLink(plain)) {
    throw new UserError(t('subscription.filter.link'));
  }
  return plain;
}

function readMinimum(text: string, t: Translate): string {
  if (isAmount(text)) return text;
  throw new UserError(t('subscription.filter.amount', { option: 'minimum' }));
}

function readToken(text: string, t: Translate) {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  throw new UserError(t('subscription.filter.token', { reason: t(`address.${parsed.fault}`) }));
}

function checkTogether({ kind, token, minimum }: Filters, t: Translate): void {
  if (kind === 'native' && token !== null) {
    throw new UserError(t('subscription.filter.nativeToken'));
  }
  if (kind === 'nft' && minimum !== null) {
    throw new UserError(t('subscription.filter.nftMinimum'));
  }
}

/** What is told, in words. */
export function describe(filters: Filters, { settings, t }: Pick<CommandContext, 'settings' | 't'>): string {
  const { direction, kind, minimum, token, mention } = filters;
  const parts = [
    t(`subscription.what.${direction}.${kind}`),
    minimum === null ? null : t('subscription.what.minimum', { amount: minimum }),
    token === null ? null : t('subscription.what.token', { token: fullAddress(token, settings, 'token') }),
    mention === null ? null : t('subscription.what.mention', { role: `<@&${mention}>` }),
  ];
  return parts.filter((part) => part !== null).join(' · ');
}
