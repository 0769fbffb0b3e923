import type { ButtonUse, Command, CommandUse, MenuUse, Reply } from '../src/discord/command.ts';
import { transactionPage } from '../src/domain/explorer.ts';
import type { TransferHistory } from '../src/domain/history.ts';
import { UserError } from '../src/errors.ts';
import { MAX_MENU_OPTIONS, menuRow } from './shared/components.ts';
import { define } from './shared/define.ts';
import { namesByAddress } from './shared/naming.ts';
import { embedReply, withInput } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { catalogedAmong } from './shared/tokens.ts';
import { hiddenFrom } from './shared/visibility.ts';
import { muteRow } from './subscription/mute.ts';
import { describeTransfer } from './why/transfer.ts';

type Needs = ContextWith<
  | 'guildChannels'
  | 'labels'
  | 'history'
  | 'tokens'
  | 'projects'
  | 'guildQueue'
  | 'settings'
  | 'now'
  | 'moved'
  | 'sendingHold'
  | 'sendingPauses'
>;

/** Maximum number of a transaction's transfers that are shown in full. */
const MAX_TRANSFERS = 5;
/** Maximum characters of all embeds (Discord allows 6,000 in one message). */
const MAX_CHARACTERS = 5_400;
/** Maximum number of subscriptions with mute buttons: a message has at most 5 rows, and one may be the menu. */
const MAX_MUTES = 4;

/** `/why`: what arrived about a transaction, what was posted or hidden, and why, from recorded decisions only. */
export const why = {
  data: define('why', 'Find out why an alert was posted or hidden').addStringOption((option) =>
    option
      .setName('transaction')
      .setDescription('Transaction hash (0x followed by 64 hexadecimal digits) or its explorer link')
      .setRequired(true)
      .setMaxLength(300),
  ),
  access: 'manage',
  execute(interaction, context) {
    const typed = interaction.options.getString('transaction', true);
    const digits = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64})(?![0-9a-z])/i.exec(typed)?.[1];
    if (!digits) throw withInput(new UserError(context.t('why.badHash')), typed, context.t);
    return explain(interaction, context, `0x${digits.toLowerCase()}`);
  },
  buttons: {
    /** `why:show:<reference>`, on the messages with alerts. */
    show: {
      access: 'all',
      response: 'reply',
      press: (interaction, [reference = ''], context) => explainMessage(interaction, context, reference, null),
    },
  },
  menus: {
    /** `why:pick:<reference>`; the value is a transaction's hash. */
    pick: {
      access: 'all',
      response: 'update',
      choose: (interaction, [reference = ''], [hash = null], context) =>
        explainMessage(interaction, context, reference, hash),
    },
  },
} satisfies Command<Needs>;

type Use = CommandUse | ButtonUse | MenuUse;

/** Explains a transaction's transfers; `reference`: only as far as this message in its channel shows them. */
async function explain(
  interaction: Use,
  context: Needs,
  txHash: string,
  reference: string | null = null,
): Promise<Reply> {
  const { settings, projects, t } = context;
  const { guildId } = interaction;
  const { scope } = await projects.of(guildId);
  const read = () => context.history.transfers(guildId, txHash, scope, context.now(), MAX_TRANSFERS);
  const { total, first } = await context.guildQueue.run(guildId, 'read', read);
  const shown =
    reference === null || context.manages
      ? await visibleParts(interaction, context, first)
      : first.flatMap((history) => onlyHere(history, interaction.channelId));
  const url = transactionPage(settings, txHash);
  if (total === 0) {
    const transaction = url ? `[\`${txHash}\`](${url})` : `\`${txHash}\``;
    return embedReply('info', t('why.title'), [t('why.unknown', { transaction }), '', t('why.unknownHints')]);
  }
  const cataloged = catalogedAmong(await context.tokens.known(guildId));
  const labels = await namesByAddress(guildId, context);
  const hold = context.sendingHold(guildId);
  const pauses = context.sendingPauses(guildId);
  if (shown.length === 0) throw new UserError(t('why.goneMessage'));
  const max = Math.floor(MAX_CHARACTERS / shown.length);
  const embeds = shown.map((history) =>
    describeTransfer(history, { ...context, guildId, hold, pauses, labels, cataloged, url, max, reference }),
  );
  const left = reference === null || context.manages ? total - shown.length : 0;
  return {
    embeds,
    ...(left > 0 && { content: t('why.more', { count: left }) }),
    components: reference === null || !context.manages ? [] : muteRows(shown, interaction.channelId, context),
  };
}

/** Buttons that mute what posted an alert in a channel: a row for each subscription. */
function muteRows(histories: readonly TransferHistory[], channelId: string, context: Needs) {
  const posted = histories
    .flatMap(({ decisions }) => decisions)
    .filter((one) => one.outcome === 'matched' && one.channelId === channelId);
  const known = posted.flatMap(({ subscription: id, address, label }) =>
    address === null ? [] : [[id, { id, address, label }] as const],
  );
  return [...new Map(known).values()].slice(0, MAX_MUTES).map((one) => muteRow(one, context));
}

/** Explains the transaction of one message; of several, the chosen one, with a menu of all. */
async function explainMessage(
  interaction: ButtonUse | MenuUse,
  context: Needs,
  reference: string,
  chosen: string | null,
): Promise<Reply> {
  const { history, moved, language, t } = context;
  const { guildId } = interaction;
  const read = () => history.transactionsOfMessage(guildId, reference, MAX_MENU_OPTIONS);
  const { total, first: transactions } = await context.guildQueue.run(guildId, 'read', read);
  const [first, ...others] = transactions;
  if (!first) throw new UserError(t('why.goneMessage'));
  if (others.length === 0) return explain(interaction, context, first.txHash, reference);
  const known = transactions.find(({ txHash }) => txHash === chosen);
  const reply = known
    ? await explain(interaction, context, known.txHash, reference)
    : embedReply('info', t('why.title'), [t('why.several', { count: total })]);
  const cataloged = catalogedAmong(await context.tokens.known(guildId));
  const options = transactions.map(({ txHash, transfers, transfer }) => {
    const what = moved(transfer, language, cataloged).replaceAll('`', '');
    const more = transfers > 1 ? ` +${transfers - 1}` : '';
    return {
      label: `${what}${more}`,
      description: txHash,
      value: txHash,
      default: txHash === known?.txHash,
    };
  });
  const menu = menuRow(`why:pick:${reference}`, t('why.choose'), options);
  return { ...reply, components: [menu, ...(reply.components ?? [])] };
}

/** The part that everybody who sees a channel may know: what its alert shows, and why it was posted. */
function onlyHere(history: TransferHistory, channelId: string): (TransferHistory & { hidden: number })[] {
  const alerts = history.alerts.filter((alert) => alert.channelId === channelId);
  const decisions = history.decisions.filter(
    (decision) => decision.channelId === channelId && decision.outcome === 'matched',
  );
  return alerts.length === 0 ? [] : [{ ...history, alerts, decisions, deliveries: [], own: false, hidden: 0 }];
}

/** The parts of histories that a person may know: nothing about channels that they cannot see. */
async function visibleParts(
  interaction: Use,
  context: Needs,
  histories: readonly TransferHistory[],
): Promise<(TransferHistory & { hidden: number })[]> {
  const channelsOf = (history: TransferHistory) =>
    [...history.decisions, ...history.alerts].map(({ channelId }) => channelId);
  // For all histories at once: they concern the same channels, and some require a request to Discord.
  const hidden = await hiddenFrom(interaction, histories.flatMap(channelsOf), context);
  return histories.map((history) => ({
    ...history,
    decisions: history.decisions.filter(({ channelId }) => !hidden.has(channelId)),
    alerts: history.alerts.filter(({ channelId }) => !hidden.has(channelId)),
    hidden: new Set(channelsOf(history).filter((channelId) => hidden.has(channelId))).size,
  }));
}
