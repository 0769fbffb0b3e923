import type { Button, ButtonUse, CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import { ago, fullAddress, note, pager, row } from '../parts/reply.ts';
import { describe } from './filters.ts';
import { visibleTo } from './find.ts';

const PER_PAGE = 6;

/** `/subscription list`. */
export function list(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  return page(interaction, context, interaction.options.getChannel('channel')?.id ?? 'all', 0);
}

/** `subscription:list:<channel or all>:<page>` */
export const listButton: Button = {
  access: 'all',
  answer: 'update',
  press: (interaction, [channel = 'all', number = '0'], context) => page(interaction, context, channel, Number(number)),
};

async function page(
  interaction: CommandUse | ButtonUse,
  context: CommandContext,
  channel: string,
  wanted: number,
): Promise<Reply> {
  const visible = await visibleTo(interaction, context);
  const shown = channel === 'all' ? visible : visible.filter(({ channelId }) => channelId === channel);
  const { t } = context;
  if (shown.length === 0) {
    const none =
      channel === 'all' ? t('subscription.list.none') : t('subscription.list.noneHere', { channel: `<#${channel}>` });
    return note('info', t('subscription.list.noneTitle'), [none]);
  }
  const pages = Math.ceil(shown.length / PER_PAGE);
  const current = Math.min(Math.max(0, Math.trunc(wanted) || 0), pages - 1);
  const rows = shown.slice(current * PER_PAGE, (current + 1) * PER_PAGE);
  const lines = rows.flatMap((one, index) => {
    const heading = one.channelId === rows[index - 1]?.channelId ? [] : [`### <#${one.channelId}>`];
    return [...heading, ...lineOf(one, context)];
  });
  const turn = pager(t, current, pages, (to) => `subscription:list:${channel}:${to}`);
  return note('info', t('subscription.list.title', { count: shown.length }), lines, {
    ...(pages > 1 && { footer: { text: t('subscription.list.page', { page: current + 1, pages }) } }),
    components: turn.length > 0 ? [row(...turn)] : [],
  });
}

function lineOf(subscription: Subscription, context: CommandContext): string[] {
  const { settings, t } = context;
  const { id, label, address, lastEventAt } = subscription;
  const last =
    lastEventAt === null ? t('subscription.list.noEvent') : t('subscription.list.lastEvent', { ago: ago(lastEventAt) });
  return [
    `**${label === null ? '' : `${inCode(label, '')} · `}${t('subscription.list.number', { id })}**`,
    fullAddress(address, settings),
    describe(subscription, context),
    `-# ${[stateOf(subscription, context), last].filter(Boolean).join(' · ')}`,
  ];
}

/** Why nothing is told at the moment; empty when something would be. */
export function stateOf({ paused, mutedUntil }: Subscription, { now, t }: Pick<CommandContext, 'now' | 't'>): string {
  if (paused) return t('subscription.state.paused');
  return mutedUntil !== null && mutedUntil > now() ? t('subscription.state.muted', { ago: ago(mutedUntil) }) : '';
}
