import { type APIEmbed, messageLink } from 'discord.js';
import { MAX_TITLE } from '../../src/discord/command.ts';
import {
  feeText,
  MAX_TOKEN_ID,
  number,
  type RenderContext,
  transactionPage,
  whatMoved,
} from '../../src/discord/render/wording.ts';
import { type AddressText, shortAddress } from '../../src/domain/address.ts';
import type { Warning } from '../../src/domain/alert.ts';
import { leftBy } from '../../src/domain/balance.ts';
import { ChainError } from '../../src/domain/chain-node.ts';
import { inTime, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { RecordedAlert, RecordedDecision, TransferHistory } from '../../src/domain/history.ts';
import type { HiddenReason } from '../../src/domain/match.ts';
import { cutTo, inCode } from '../../src/domain/text.ts';
import { inDollars, type Transfer, worthOf } from '../../src/domain/transfer.ts';
import { writeWorth } from '../../src/languages/languages.ts';
import { titleName } from '../shared/names.ts';
import {
  absoluteTime,
  addressInCode,
  asManyAsFit,
  COLORS,
  fullAddress,
  MAX_ID,
  MAX_REPLY_TEXT,
  relativeTime,
  thirdPartyName,
  thirdPartyText,
} from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';

/** The part of a history that the person may see; `hidden`: the number of channels that are left out. */
export type ShownHistory = TransferHistory & { hidden: number };

interface TransferContext extends Context {
  guildId: string;
  /** The message to explain; null: the transaction in all channels. */
  reference: string | null;
  names: ReadonlyMap<AddressText, string>;
  rendering: RenderContext;
  max: number;
}

const MAX_BALANCE_WAIT_MS = 3 * SECOND;

const GRAY = 0x6e7681;
/** Maximum characters of the footer: a hash and a message's reference. */
const MAX_FOOTER = 100;
/** Maximum characters of a name that alerts shorten; longer ones are cut when they are read. */
const MAX_WHOLE = 300;

export async function describeTransfer(history: ShownHistory, context: TransferContext): Promise<APIEmbed> {
  const { t, settings, max } = context;
  const { transfer, count } = history;
  const url = transactionPage(settings, transfer.txHash);
  const title = `🔎 ${whatMoved(transfer, context.rendering)}${count > 1 ? ` ×${count}` : ''}`;
  const reference = context.reference && context.manages ? ` · ref ${context.reference}` : '';
  const channels = new Set([...history.alerts, ...history.decisions].map(({ channelId }) => channelId));
  const lines = [
    verdict(history, context),
    '',
    t('why.from', { party: party(transfer.from, history, context) }),
    t('why.to', { party: party(transfer.to, history, context) }),
    ...(transfer.token ? [t('why.token', { token: fullAddress(transfer.token, settings, 'token') })] : []),
    ...wholeFacts(transfer, title, context),
    ...chainFacts(transfer, context),
    ...(count === 0 ? [t('alert.notOnChain')] : []),
    ...(await balanceLines(history, context)),
    '',
    ...(isPublic(context) ? [] : received(history, context)),
    ...[...channels].flatMap((channelId) => inChannel(channelId, history, context)),
    ...(channels.size === 0 && history.hidden === 0 ? ['', t('why.notWatched')] : []),
    ...(history.hidden > 0 ? ['', t('why.hiddenChannels', { count: history.hidden })] : []),
  ];
  return {
    title: cutTo(title, MAX_TITLE),
    ...(url && { url }),
    color: colorOf(history),
    description: asManyAsFit(lines, Math.min(max - title.length - MAX_FOOTER, MAX_REPLY_TEXT)),
    footer: { text: transfer.txHash + reference },
  };
}

function wholeFacts(
  { tokenId, value, tokenName, tokenSymbol }: Transfer,
  title: string,
  { t }: TransferContext,
): string[] {
  const names = [tokenName, tokenSymbol].filter((name) => name !== null);
  const whole = (name: string) => inCode(name, '', MAX_WHOLE, t('alert.hiddenName'));
  const long = names.filter((name) => whole(name) !== inCode(name, '', undefined, t('alert.hiddenName')));
  return [
    ...(tokenId !== null && tokenId.length > MAX_TOKEN_ID ? [`${t('alert.tokenIdField')} \`${tokenId}\``] : []),
    ...(value !== null && title.length > MAX_TITLE ? [t('why.wholeAmount', { amount: `\`${value}\`` })] : []),
    ...[...new Set(long)].map((name) => `-# ${whole(name)}`),
  ];
}

/** Whether everybody who sees the message may read it, not only people who manage the bot. */
const isPublic = ({ reference, manages }: TransferContext): boolean => reference !== null && !manages;

function verdict({ alerts, decisions, transfer }: TransferHistory, { t, names, language }: TransferContext): string {
  const dead = alerts.length > 0 && alerts.every(({ state }) => state === 'dead');
  if (dead) return t('why.failed');
  const sent = alerts.filter(({ state }) => state === 'sent');
  if (alerts.length > 0 && sent.length === 0) return t('why.notYet');
  if (sent.length === 0) return t('why.notPosted');
  // In other channels it may still wait, for example for a digest.
  const posted = new Set(sent.map(({ channelId }) => channelId));
  const matched = decisions.filter(
    ({ outcome, address, channelId }) => outcome === 'matched' && address !== null && posted.has(channelId),
  );
  const called = matched.map(({ subscription: id, address, label }) =>
    t('why.subscription', { name: titleName(label ?? names.get(address!), shortAddress(address!)), id }),
  );
  const watched = new Set(matched.map(({ address }) => address));
  const isToken = watched.size > 0 && [...watched].every((address) => address === transfer.token);
  const listed = new Intl.ListFormat(language, { type: 'conjunction' }).format(called);
  const shown = { names: listed || t('why.removed'), count: called.length || 1 };
  return isToken ? t('why.postedToken', shown) : t('why.postedWallet', shown);
}

function chainFacts(transfer: Transfer, context: TransferContext): string[] {
  const { blockNumber, gasFee, internal, price } = transfer;
  const worth = worthOf(transfer);
  const { t, language, rendering } = context;
  const facts = [
    ...(worth ? [writeWorth(inDollars(worth), language)] : price === null ? [t('alert.unknownPrice')] : []),
    ...(blockNumber === null ? [] : [t('alert.block', { block: number(blockNumber, rendering) })]),
    ...(gasFee === null ? [] : [feeText(gasFee, transfer, rendering)]),
  ];
  return [...(facts.length > 0 ? [facts.join(' · ')] : []), ...(internal ? [`-# ${t('alert.internalTransfer')}`] : [])];
}

/** The balances of the watched addresses after the transfer. They are read once and stored. */
async function balanceLines({ id, transfer, decisions }: TransferHistory, context: TransferContext): Promise<string[]> {
  const { chain, t } = context;
  const watched = new Set(decisions.flatMap(({ address }) => address ?? []));
  const holdings = [...watched].flatMap((address) => leftBy(transfer, address) ?? []);
  if (chain === null || holdings.length === 0) return [];
  const [{ block }] = holdings as [(typeof holdings)[0]];
  const kept: Partial<Record<AddressText, string>> = transfer.balances?.block === block ? transfer.balances.of : {};
  const isKept = holdings.every(({ address }) => kept[address] !== undefined);
  const read = async (): Promise<typeof kept> => {
    const found = (await chain.holdings(block, holdings)).flatMap((value, index) =>
      value === null ? [] : [{ transferId: id, address: holdings[index]!.address, block, balance: value.toString() }],
    );
    await context.balances.keep(found, false, context.now());
    return Object.fromEntries(found.map(({ address, balance }) => [address, balance]));
  };
  try {
    const values = isKept ? kept : await inTime(read(), MAX_BALANCE_WAIT_MS, context);
    if (values === null) return [`-# ${t('why.noBalance.away')}`];
    return holdings.flatMap(({ address }) => {
      const value = values[address];
      if (value === undefined) return [];
      const name = titleName(context.names.get(address), `\`${shortAddress(address)}\``);
      const amount = whatMoved({ ...transfer, value }, context.rendering);
      return t('why.balance', { name, amount, block: number(block, context.rendering) });
    });
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    return [`-# ${t(`why.noBalance.${error.failure === 'pruned' ? 'pruned' : 'away'}`)}`];
  }
}

function colorOf({ alerts }: TransferHistory): number {
  if (alerts.some((alert) => alert.state === 'dead')) return COLORS.danger;
  if (alerts.some((alert) => alert.state !== 'sent')) return COLORS.warn;
  return alerts.length > 0 ? COLORS.good : GRAY;
}

function party(
  address: AddressText | null,
  { decisions }: TransferHistory,
  { t, names, settings }: TransferContext,
): string {
  if (address === null) return t('why.nobody');
  const label = names.get(address) ?? decisions.find((decision) => decision.address === address)?.label;
  return `${label ? `${titleName(label)} ` : ''}${fullAddress(address, settings)}`;
}

/** Only the project's own guild sees the watchers, and the operator's project. */
function received(
  { deliveries, seenAt, own, count, reorganized }: TransferHistory,
  context: TransferContext,
): string[] {
  const { t } = context;
  const times = deliveries.reduce((sum, delivery) => sum + delivery.received, 0) || 1;
  const last = Math.max(seenAt, ...deliveries.map((delivery) => delivery.lastAt));
  const named = new Set(deliveries.flatMap(({ projectId }) => projectId ?? []));
  const projects = [...named]
    .filter((id) => own || id !== context.projects.operatorId)
    .map((id) => inCode(id, '', MAX_ID));
  const words = {
    count: times,
    times: times === 2 ? t('why.twice') : t('why.times', { count: times }),
    watchers: t('why.watchers', { count: deliveries.length }),
    at: absoluteTime(seenAt),
    last: absoluteTime(last),
  };
  const watchers = deliveries.map((delivery) => {
    const kind = delivery.addressType === 'token' ? 'token' : (delivery.direction ?? 'unnoted');
    return `-# ${t(`why.watcher.${kind}`, { times: delivery.received })}`;
  });
  return [
    last - seenAt >= MINUTE ? t('why.received', words) : t('why.receivedAtOnce', words),
    ...(own && watchers.length > 0 ? watchers : []),
    ...(projects.length > 0 ? [`-# ${t('why.project', { projects: projects.join(t('reply.comma')) })}`] : []),
    ...(count > 1 ? [t('why.equal', { count })] : []),
    ...(reorganized ? [t('why.reorganized')] : []),
  ];
}

function inChannel(channelId: string, history: TransferHistory, context: TransferContext): string[] {
  const alerts = history.alerts.filter((alert) => alert.channelId === channelId);
  const decisions = history.decisions.filter((decision) => decision.channelId === channelId);
  return [
    `### <#${channelId}>`,
    ...alerts.flatMap((alert) => [
      ...describeAlert(alert, context),
      ...alert.warnings.map((warning) => describeWarning(warning, context)),
    ]),
    ...decisions.map((decision) => describeDecision(decision, context)),
  ];
}

function describeDecision(decision: RecordedDecision, { t, names }: TransferContext): string {
  const { subscription: id, address, label, outcome } = decision;
  const name = address && titleName(label ?? names.get(address), `\`${shortAddress(address)}\``);
  const subscription = name ? t('why.subscription', { name, id }) : t('why.gone', { id });
  // A later version may have stored a reason that this one does not know.
  const defaultValue = t('why.otherOutcome', { subscription, reason: inCode(outcome, '') });
  return t(`why.outcome.${outcome as HiddenReason | 'matched'}`, { subscription, defaultValue });
}

function describeAlert(alert: RecordedAlert, context: TransferContext): string[] {
  const { t, now } = context;
  const { state, hold, message, channel } = alert;
  switch (state) {
    case 'dead': {
      if (alert.discardedAt !== null) return [t('why.state.discarded', { at: absoluteTime(alert.discardedAt) })];
      if (!alert.dead) return [t('why.state.forgotten')];
      const reason = thirdPartyText(alert.dead.reason, 300);
      return [t('why.state.dead', { at: absoluteTime(alert.dead.at), reason })];
    }
    case 'sent': {
      if (!message) return [];
      const at = absoluteTime(message.sentAt ?? message.frozenAt);
      const link = linkTo(alert, context);
      if (message.kind === 'digest') {
        return [
          t('why.state.digest', { count: message.alerts, at, link }),
          ...(message.reason ? [t(`why.digestReason.${message.reason}`)] : []),
        ];
      }
      const others = message.alerts - message.together;
      return [
        t('why.state.sent', { at, link }),
        ...(message.together > 1 ? [t('why.together', { count: message.together })] : []),
        ...(others > 0 ? [t('why.others', { count: others })] : []),
      ];
    }
    case 'waiting':
    case 'frozen': {
      const reason = thirdPartyText(channel?.reason ?? '', 200) || t('why.noReason');
      if (channel?.state === 'parked') return [t('why.state.parked', { reason, due: relativeTime(channel.dueAt) })];
      if (channel?.state === 'unreachable') return [t('why.state.unreachable', { reason })];
      const pause = context.guildPause(context.guildId);
      if (pause && alert.dueAt <= now()) return [t('why.state.together', { due: relativeTime(pause.probeAt) })];
      if (message?.sentAt) {
        return [t('why.state.joining', { at: absoluteTime(message.sentAt), link: linkTo(alert, context) })];
      }
      if (message) {
        const sending = t('why.state.sending', { at: absoluteTime(message.frozenAt), count: message.attempts });
        return [sending, ...paused(alert, context)];
      }
      if (hold !== null && alert.dueAt > now()) return [t(`why.state.${hold}`, { due: relativeTime(alert.dueAt) })];
      // Once it is due, something else delays the digest, such as Discord's errors.
      if (alert.collectingUntil !== null && alert.collectingUntil > now()) {
        return [t('why.state.burst', { due: relativeTime(alert.collectingUntil) }), ...paused(alert, context)];
      }
      return [t('why.state.waiting', { at: absoluteTime(alert.createdAt) }), ...paused(alert, context)];
    }
  }
}

function paused({ channelId }: RecordedAlert, { t, guildId, sendingPauses }: TransferContext): string[] {
  const shown = sendingPauses(guildId).flatMap((sendingPause) =>
    sendingPause.reason !== 'burst' && (sendingPause.channelId ?? channelId) === channelId
      ? t(`why.pause.${sendingPause.reason}`, { due: relativeTime(sendingPause.until) })
      : [],
  );
  return shown.slice(0, 1);
}

function linkTo({ message, channelId }: RecordedAlert, { t, guildId }: TransferContext): string {
  const word = t('why.message');
  if (!message?.messageId) return word;
  return `[${word}](${messageLink(channelId, message.messageId, guildId)})`;
}

function describeWarning(warning: Warning, { t }: TransferContext): string {
  switch (warning.kind) {
    case 'look-alike': {
      const { address, like } = warning;
      return t('why.warning.look-alike', { address: addressInCode(address), like: addressInCode(like) });
    }
    case 'imitation':
      return t('why.warning.imitation', { symbol: thirdPartyName(t, warning.symbol, '?') });
    case 'other-project':
      return t('why.warning.other-project', { project: inCode(warning.projectId, '?', MAX_ID) });
    case 'uncataloged':
    case 'unchecked':
    case 'late':
    case 'found':
      return t(`why.warning.${warning.kind}`);
  }
}
