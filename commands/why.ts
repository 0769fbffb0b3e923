import type { Command, Reply } from '../src/discord/command.ts';
import { replyHeadline } from '../src/discord/render/compact.ts';
import { transactionPage, whatMoved } from '../src/discord/render/wording.ts';
import { type AddressText, shortAddress } from '../src/domain/address.ts';
import type { MessageTransaction, TransferHistory } from '../src/domain/history.ts';
import { plainText } from '../src/domain/text.ts';
import type { KnownToken } from '../src/domain/token.ts';
import { UserError } from '../src/errors.ts';
import { sightOf } from './shared/channels.ts';
import { MAX_MENU_OPTIONS, menuRow, pager, rows } from './shared/components.ts';
import { define, text } from './shared/define.ts';
import { namesByAddress, titleName } from './shared/names.ts';
import { eachNetwork, hasSeveral, onNetwork, titleOf } from './shared/networks.ts';
import { embedReply, withInput } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { renderingOn } from './shared/tokens.ts';
import { muteRow } from './subscription/mute.ts';
import { describeTransfer, type ShownHistory } from './why/transfer.ts';

const MAX_TRANSFERS = 5;
/** Maximum characters of all embeds (Discord allows 6,000 in one message). */
const MAX_CHARACTERS = 5_400;
/** Maximum number of subscriptions with mute buttons: a message has at most 5 rows. */
const MAX_MUTES = 3;
/** The rows that a menu and its pages leave. */
const MAX_ROWS = 3;

/** Explains from recorded decisions only. */
export const why = {
  section: 'understand',
  data: define('why', 'Find out why an alert was posted or hidden', [
    text('transaction', 'Transaction hash (0x followed by 64 hexadecimal digits) or its explorer link', {
      required: true,
      max_length: 300,
    }),
  ]),
  access: 'manage',
  execute(interaction, context) {
    const typed = interaction.options.getString('transaction', true);
    const digits = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64})(?![0-9a-z])/i.exec(typed)?.[1];
    if (!digits) throw withInput(new UserError(context.t('why.badHash')), typed, context.t);
    return explain(context, `0x${digits.toLowerCase()}`, NO_MESSAGE);
  },
  buttons: {
    show: {
      access: 'all',
      response: 'reply',
      press: (_, [reference = ''], context) => explainMessage(context, reference, 0, null),
    },
    page: {
      access: 'all',
      press: (_, [reference = '', page], context) => explainMessage(context, reference, pageOf(page), null),
    },
    /** The reference is empty in a command's reply. */
    part: {
      access: 'all',
      press(_, [reference = '', page, key = '', part], context) {
        if (reference !== '') return explainMessage(context, reference, pageOf(page), key, pageOf(part));
        if (!context.manages) throw new UserError(context.t('why.goneMessage'));
        return explain(context, key.split('@')[0]!, { ...NO_MESSAGE, part: pageOf(part) });
      },
    },
  },
  menus: {
    pick: {
      access: 'all',
      choose: (_, [reference = '', page], context, [hash = null]) =>
        explainMessage(context, reference, pageOf(page), hash),
    },
  },
} satisfies Command<Context>;

/** A page's number in a custom ID; 0 in those of earlier messages. */
const pageOf = (text = '0'): number => (/^\d{1,6}$/.test(text) ? Number(text) : 0);

interface Place {
  reference: string | null;
  network: number | null;
  /** The page of the menu of its transactions. */
  page: number;
  part: number;
}

const NO_MESSAGE: Place = { reference: null, network: null, page: 0, part: 0 };

/** Explains a transaction's transfers; with a `reference` only as far as this message in its channel shows them. */
async function explain(context: Context, txHash: string, { reference, network, page, part }: Place): Promise<Reply> {
  const { guildId, interaction, settings, t } = context;
  const isLimited = reference !== null && !context.manages;
  const channelId = isLimited ? interaction.channelId : null;
  const skip = part * MAX_TRANSFERS;
  const accesses = await Promise.all(eachNetwork(context).map(({ projects }) => projects.accessOf(guildId)));
  const ownScopes = accesses.flatMap(({ scope }) => scope ?? []);
  const query = { guildId, txHash, ownScopes, network, channelId, skip };
  const read = () => context.history.transfers(query, context.now(), MAX_TRANSFERS);
  const { total, first } = await context.guildQueue.run(guildId, 'read', read);
  const shown = isLimited
    ? first.flatMap((history) => onlyHere(history, interaction.channelId))
    : await visibleParts(context, first);
  if (total === 0 && !isLimited && part === 0) {
    const url = hasSeveral(settings) ? null : transactionPage(settings, txHash);
    const transaction = url ? `[\`${txHash}\`](${url})` : `\`${txHash}\``;
    return embedReply('info', t('why.title'), [t('why.unknown', { transaction }), '', t('why.unknownHints')]);
  }
  const known = await context.tokens.known(guildId);
  const labels = await namesByAddress(guildId, context);
  if (shown.length === 0) throw new UserError(t('why.goneMessage'));
  const max = Math.floor(MAX_CHARACTERS / shown.length);
  const embedOf = async (history: (typeof shown)[number]) => {
    const on = onNetwork(context, history.network);
    const rendering = renderingOn(context, history.network, known);
    const embed = await describeTransfer(history, { ...on, guildId, reference, names: labels, rendering, max });
    return hasSeveral(settings) ? { author: { name: titleOf(history.network, settings) }, ...embed } : embed;
  };
  const embeds = await Promise.all(shown.map(embedOf));
  const remaining = total - skip - shown.length;
  // A headline of only some transfers would show wrong amounts.
  const whole = total > first.length ? [] : headlines(shown, labels, known, context);
  const contents = [...whole, ...(remaining > 0 ? [t('why.more', { count: remaining })] : [])];
  const at = `${reference ?? ''}:${page}:${keyOf({ txHash, network: network ?? 0 }, context)}`;
  const parts = rows(pager(t, part, Math.ceil(total / MAX_TRANSFERS), (next) => `why:part:${at}:${next}`));
  const mutes = reference === null || !context.manages ? [] : muteRows(shown, interaction.channelId, context);
  return {
    embeds,
    ...(contents.length > 0 && { content: contents.join('\n') }),
    components: [...parts, ...mutes].slice(0, MAX_ROWS),
  };
}

function headlines(
  all: readonly TransferHistory[],
  labels: ReadonlyMap<AddressText, string>,
  known: readonly KnownToken[],
  context: Context,
): string[] {
  const there = all.filter(({ count }) => count > 0);
  const several = [...Map.groupBy(there, ({ network }) => network)].filter(([, { length }]) => length > 1);
  return several.map(([network, histories]) => {
    const transfers = histories.map(({ transfer, count, decisions }) => {
      const watched = decisions.flatMap(({ address, outcome }) => (outcome === 'matched' && address) || []);
      return { transfer, count, watched: [...new Set(watched)] };
    });
    return `**${replyHeadline(transfers, labels, renderingOn(context, network, known))}**`;
  });
}

function muteRows(histories: readonly TransferHistory[], channelId: string, context: Context) {
  const posted = histories
    .flatMap(({ decisions }) => decisions)
    .filter((decision) => decision.outcome === 'matched' && decision.channelId === channelId);
  const known = posted.flatMap(({ subscription: id, address, label }) =>
    address === null ? [] : [[id, { id, address, label }] as const],
  );
  return [...new Map(known).values()].slice(0, MAX_MUTES).map((token) => muteRow(token, context));
}

async function explainMessage(
  context: Context,
  reference: string,
  page: number,
  chosen: string | null,
  part = 0,
): Promise<Reply> {
  const { guildId, history, t } = context;
  const from = page * MAX_MENU_OPTIONS;
  const read = () => history.transactionsOfMessage(guildId, reference, MAX_MENU_OPTIONS, from);
  const { total, shown } = await context.guildQueue.run(guildId, 'read', read);
  const [first] = shown;
  if (!first) throw new UserError(t('why.goneMessage'));
  const networkOf = ({ network }: MessageTransaction) => (hasSeveral(context.settings) ? network : null);
  const show = (transaction: MessageTransaction) =>
    explain(context, transaction.txHash, { reference, network: networkOf(transaction), page, part });
  if (total === 1) return show(first);
  const known = shown.find((transaction) => keyOf(transaction, context) === chosen);
  const reply = known ? await show(known) : embedReply('info', t('why.title'), [t('why.several', { count: total })]);
  const tokens = await context.tokens.known(guildId);
  const labels = await namesByAddress(guildId, context);
  const options = shown.map((transaction) => ({
    ...rowOf(transaction, tokens, labels, context),
    value: keyOf(transaction, context),
    default: transaction === known,
  }));
  const range = { first: from + 1, last: from + shown.length, total };
  const placeholder = total > shown.length ? t('why.chooseOf', range) : t('why.choose');
  const pages = pager(t, page, Math.ceil(total / MAX_MENU_OPTIONS), (next) => `why:page:${reference}:${next}`);
  const menu = menuRow(`why:pick:${reference}:${page}`, placeholder, options);
  return { ...reply, components: [menu, ...rows(pages), ...(reply.components ?? [])] };
}

/** A transaction's value in the menu. With several networks it names one, because hashes may be equal. */
const keyOf = ({ txHash, network }: Pick<MessageTransaction, 'txHash' | 'network'>, { settings }: Context): string =>
  hasSeveral(settings) ? `${txHash}@${network}` : txHash;

function rowOf(
  { network, txHash, transfers, transfer, perspectives }: MessageTransaction,
  tokens: readonly KnownToken[],
  labels: ReadonlyMap<AddressText, string>,
  context: Context,
): { label: string; description: string } {
  const { settings, t } = context;
  const { from, to, token } = transfer;
  const what = whatMoved(transfer, renderingOn(context, network, tokens)).replaceAll('`', '');
  const nameOf = (address: AddressText | null) =>
    address === null ? t('alert.unknown') : titleName(labels.get(address), shortAddress(address));
  const [isOut, isIn] = [perspectives.includes('outgoing'), perspectives.includes('incoming')];
  const way = isOut && isIn ? '🔁' : isOut ? '📤' : isIn ? '📥' : '🪙';
  const parties = perspectives.includes('token') ? nameOf(token) : `${nameOf(from)} → ${nameOf(to)}`;
  return {
    label: `${way} ${what}${transfers > 1 ? ` +${transfers - 1}` : ''}`,
    description: `${plainText(parties)} · ${txHash.slice(0, 10)}…${txHash.slice(-8)}${hasSeveral(settings) ? ` · ${titleOf(network, settings)}` : ''}`,
  };
}

/** The part that everybody who sees a channel may know: what its alert shows, and why it was posted. */
function onlyHere(history: TransferHistory, channelId: string): ShownHistory[] {
  const alerts = history.alerts.filter((alert) => alert.channelId === channelId);
  const decisions = history.decisions.filter(
    (decision) => decision.channelId === channelId && decision.outcome === 'matched',
  );
  return alerts.length === 0 ? [] : [{ ...history, alerts, decisions, deliveries: [], own: false, hidden: 0 }];
}

/** Nothing about channels that the person cannot see. */
async function visibleParts(context: Context, histories: readonly TransferHistory[]): Promise<ShownHistory[]> {
  const placesOf = ({ decisions, alerts }: TransferHistory) => [...decisions, ...alerts];
  // For all histories at once: they concern the same channels, and some require a request to Discord.
  const isSeen = await sightOf(histories.flatMap(placesOf), context);
  return histories.map((history) => ({
    ...history,
    decisions: history.decisions.filter(isSeen),
    alerts: history.alerts.filter(isSeen),
    hidden: new Set(placesOf(history).flatMap((place) => (isSeen(place) ? [] : place.channelId))).size,
  }));
}
