import { ButtonStyle } from 'discord.js';
import type { Button, CommandUse, Menu, Reply } from '../../src/discord/command.ts';
import { type AddressText, shortAddress } from '../../src/domain/address.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { isolate } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import { visibleTo } from '../shared/channels.ts';
import { button, type MenuRow, menuRow, pager, row, rows } from '../shared/components.ts';
import { titleName } from '../shared/names.ts';
import { pickedNetwork } from '../shared/networks.ts';
import { coverageWarning } from '../shared/next-step.ts';
import { asManyAsFit, embedReply, pageOf, relativeTime } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { type TokenBook, tokenBook } from '../shared/tokens.ts';
import { addressLine, describe, stateOf } from './describe.ts';
import { seenOne } from './find.ts';
import { mutedTokens } from './mute.ts';
import { panel } from './panel.ts';

const PER_PAGE = 6;
/** Maximum characters of a page, which must fit into one message. */
const MAX_PAGE = 3_800;
const MAX_PHRASES = 380;

export function list(interaction: CommandUse, context: Context): Promise<Reply> {
  const network = pickedNetwork(interaction, context);
  return page(context, interaction.options.getChannel('channel')?.id ?? 'all', 0, network);
}

export const listButton: Button<Context> = {
  access: 'all',
  press: (_, [channel = 'all', number = '0', network], context) =>
    page(context, channel, Number(number), network === undefined ? null : Number(network)),
};

async function page(context: Context, channel: string, wanted: number, network: number | null): Promise<Reply> {
  const { interaction, channels, t } = context;
  const isThere = (subscription: Subscription) =>
    network === null || subscription.network === null || subscription.network === network;
  const visible = (await visibleTo(context)).filter(isThere);
  const shown = channel === 'all' ? visible : visible.filter(({ channelId }) => channelId === channel);
  if (shown.length === 0) {
    const none =
      channel === 'all' ? t('subscription.list.none') : t('subscription.list.noneHere', { channel: `<#${channel}>` });
    return embedReply('info', t('subscription.list.noneTitle'), [none]);
  }
  const { page: current, pages, shown: listed } = pageOf(shown, PER_PAGE, wanted);
  const tokens = await tokenBook(context);
  const troubled = new Map(
    (await channels.blocked(interaction.guildId)).map((channel) => [channel.channelId, channel.state]),
  );
  const numbers = (missing: ReadonlySet<AddressText>) =>
    listed.flatMap(({ id, address }) => (missing.has(address) ? id : [])).join('.');
  const warning = context.manages ? await coverageWarning(listed, numbers, context) : null;
  const linesWith = (phrases: number) =>
    listed.flatMap((subscription, index) => {
      const heading =
        subscription.channelId === listed[index - 1]?.channelId ? [''] : headingOf(subscription.channelId, troubled, t);
      return [...heading, ...linesOf(subscription, context, tokens, phrases, warning)];
    });
  const room = (MAX_PAGE - linesWith(0).join('\n').length) / listed.length;
  const lines = linesWith(Math.min(MAX_PHRASES, room));
  const muted = asManyAsFit(await mutedTokens(context, tokens));
  const only = network === null ? '' : `:${network}`;
  const turn = pager(t, current, pages, (to) => `subscription:list:${channel}:${to}${only}`);
  return embedReply('info', t('subscription.list.title', { count: shown.length }), lines, {
    ...(muted && { fields: [{ name: t('subscription.list.mutedTokens'), value: muted }] }),
    ...(pages > 1 && { footer: { text: t('reply.page', { page: current + 1, pages }) } }),
    components: [...(context.manages ? [menuOf(listed, context)] : []), ...rows(turn, warning?.buttons ?? [])],
  });
}

function menuOf(listed: readonly Subscription[], { interaction, t }: Context): MenuRow {
  const options = listed.map(({ id, label, address, channelId }) => {
    const channel = interaction.guild?.channels.cache.get(channelId)?.name;
    // One address may be watched in several channels, under the same name.
    const parts = [
      `#${id}`,
      label === null ? null : shortAddress(address),
      channel === undefined ? null : isolate(`#${channel}`),
    ];
    return {
      label: isolate(label ?? shortAddress(address)),
      description: parts.filter((part) => part !== null).join(' · '),
      value: String(id),
    };
  });
  return menuRow('subscription:act', t('subscription.list.menu'), options);
}

export const actMenu: Menu<Context> = {
  response: 'reply',
  async choose(_, __, context, [id]) {
    const found = await seenOne(id, context);
    const { t } = context;
    const shown = await panel(found, context);
    const acts = row(
      button(t('subscription.list.mute'), `subscription:mute:${found.id}`),
      button(t('subscription.list.test'), `subscription:test:${found.id}`),
      button(t('subscription.remove.yes'), `subscription:remove:${found.id}`, ButtonStyle.Danger),
    );
    return { ...shown, components: [...shown.components!, acts] };
  },
};

function headingOf(channelId: string, troubled: Map<string, string>, t: Translate): string[] {
  const state = troubled.get(channelId);
  const trouble = state === 'parked' ? t('subscription.list.parked') : t('subscription.list.closed');
  return [`### <#${channelId}>`, ...(state === undefined ? [] : [trouble])];
}

function linesOf(
  subscription: Subscription,
  context: Context,
  tokens: TokenBook,
  phrases: number,
  warning: Awaited<ReturnType<typeof coverageWarning>>,
): string[] {
  const { t } = context;
  const { id, label, address, lastEventAt } = subscription;
  const networks = warning?.missing.has(address) ? warning.on(address).join(t('reply.comma')) : null;
  const last =
    lastEventAt === null
      ? t('subscription.list.noEvent')
      : t('subscription.list.lastEvent', { ago: relativeTime(lastEventAt) });
  return [
    `**${label === null ? '' : `${titleName(label)} · `}#${id}**`,
    addressLine(subscription, context),
    ...(networks === null
      ? []
      : [t(`subscription.list.${networks === '' ? 'uncovered' : 'uncoveredOn'}`, { networks })]),
    inOneLine(describe(subscription, context, tokens), phrases, t),
    `-# ${[stateOf(subscription, context), last].filter(Boolean).join(' · ')}`,
  ];
}

function inOneLine(phrases: string[], max: number, t: Translate): string {
  let shown = 1;
  while (shown < phrases.length && phrases.slice(0, shown + 1).join(' · ').length <= max) shown++;
  const rest = phrases.length - shown;
  return [...phrases.slice(0, shown), ...(rest > 0 ? [t('subscription.list.more', { count: rest })] : [])].join(' · ');
}
