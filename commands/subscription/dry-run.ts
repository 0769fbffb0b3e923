import type { APIEmbedField } from 'discord.js';
import { transactionPage, whatMoved } from '../../src/discord/render/wording.ts';
import { ZERO_ADDRESS } from '../../src/domain/address.ts';
import { DAY } from '../../src/domain/clock.ts';
import { type DryRun, dryRun, type Proposal } from '../../src/domain/history.ts';
import type { HiddenReason } from '../../src/domain/match.ts';
import { imitatedBy } from '../../src/domain/scam.ts';
import type { Perspective } from '../../src/domain/subscription.ts';
import { cutTo } from '../../src/domain/text.ts';
import { otherSides, type Transfer } from '../../src/domain/transfer.ts';
import { nameIn, type Translate } from '../../src/languages/index.ts';
import { seenBy } from '../shared/channels.ts';
import { lookAlikes } from '../shared/look-alike.ts';
import { eachNetwork } from '../shared/networks.ts';
import { asManyAsFit, relativeTime } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { knownIn, renderingOn } from '../shared/tokens.ts';

const LOOK_BACK_MS = 7 * DAY;
/** The latest ones: somebody waits for the reply. */
const MAX_TRANSFERS = 50_000;

/** Maximum characters of an amount: a token may claim 255 decimals. */
const MAX_AMOUNT = 120;
const OPTIONS: Partial<Record<HiddenReason, string>> = {
  'denied-token': 'exclude-tokens',
  'token-list': 'tokens',
  'denied-counterparty': 'exclude-counterparties',
  counterparty: 'counterparties',
  'minimum-usd': 'minimum',
};

const ARROWS: Record<Perspective, string> = { incoming: '📥', outgoing: '📤', self: '🔁', token: '🔁' };

export async function dryRunField(proposal: Proposal, context: Context): Promise<APIEmbedField> {
  const { now, t } = context;
  const found = await (await dryRunner(MAX_TRANSFERS, context))(proposal);
  const examples = await exampleLines(found, proposal, context);
  const cut = found.cut === null ? [] : [t('subscription.dryRun.cut', { count: found.cut })];
  const lines = [sum(found, now(), t), ...cut, ...examples, ...leftOut(found, proposal, context)];
  return { name: t('subscription.dryRun.title'), value: asManyAsFit(lines) };
}

export async function groupDryRunField(proposals: readonly Proposal[], context: Context): Promise<APIEmbedField> {
  const { now, t } = context;
  const run = await dryRunner(Math.ceil(MAX_TRANSFERS / proposals.length), context);
  const all: DryRun = { related: 0, posted: 0, hidden: {}, examples: [], since: null, cut: null };
  for (const proposal of proposals) {
    const { related, posted, since } = await run(proposal);
    all.related += related;
    all.posted += posted;
    if (since !== null) all.since = Math.min(since, all.since ?? since);
  }
  const value = all.related === 0 ? t('watch.noTransfers') : sum(all, now(), t);
  return { name: t('subscription.dryRun.title'), value };
}

async function dryRunner(max: number, context: Context) {
  const { history, now, guildQueue } = context;
  const period = { since: now() - LOOK_BACK_MS, until: now(), max, channelIds: await knownChannels(context) };
  return (proposal: Proposal): Promise<DryRun> =>
    guildQueue.run(proposal.guildId, 'read', () => dryRun(proposal, period, history.recentTransfers));
}

async function exampleLines({ examples }: DryRun, proposal: Proposal, context: Context): Promise<string[]> {
  const { t } = context;
  const known = examples.length > 0 ? await knownIn(proposal.guildId, context) : [];
  const partiesOf = (transfer: Transfer) =>
    otherSides(proposal, transfer).flatMap((party) => (party === null || party === ZERO_ADDRESS ? [] : [party]));
  const parties = examples.flatMap(({ transfer }) => partiesOf(transfer));
  const alike = await lookAlikes(parties, context, [{ address: proposal.address, label: null }]);
  const warned = (title: string, { network, transfer }: DryRun['examples'][number], isLookAlike: boolean): string => {
    const { token, tokenSymbol } = transfer;
    if (isLookAlike) return `⚠️ ${t('alert.lookAlike', { title })}`;
    const there = known.filter((other) => other.network === network);
    const isImitation = token !== null && imitatedBy(token, tokenSymbol, there) !== null;
    return isImitation ? `⚠️ ${t('alert.imitation', { title })}` : title;
  };
  return examples.map((example) => {
    const { network, transfer, perspective, seenAt } = example;
    const rendering = renderingOn(context, network, known);
    const title = `${ARROWS[perspective]} ${cutTo(whatMoved(transfer, rendering), MAX_AMOUNT)}`;
    const isLookAlike = partiesOf(transfer).some((party) => alike.has(party));
    const url = transactionPage(rendering, transfer.txHash);
    return `${warned(title, example, isLookAlike)} · ${relativeTime(seenAt)}${url ? ` · [tx](${url})` : ''}`;
  });
}

/** null: all transfers of the guild's project, for people who see every watching channel of a guild that manages it. */
async function knownChannels(context: Context): Promise<string[] | null> {
  const [{ visible, unseen }, ...accesses] = await Promise.all([
    seenBy(context),
    ...eachNetwork(context).map(({ projects }) => projects.accessOf(context.guildId)),
  ]);
  if (accesses.every(({ scope }) => scope !== null) && unseen.length === 0) return null;
  return [...new Set(visible.map(({ channelId }) => channelId))];
}

function leftOut(
  { hidden }: DryRun,
  { minimum, filters }: Pick<Proposal, 'minimum' | 'filters'>,
  { t, language }: Context,
): string[] {
  const nameOf = (option: string) => `\`${nameIn(language, `subscription edit ${option}`)}\``;
  const byToken = Object.keys(filters.minimums).length > 0 ? [nameOf('minimums')] : [];
  const minimums = [...(minimum === null ? [] : [nameOf('minimum')]), ...byToken].join(' / ');
  const optionOf = (reason: HiddenReason) => (reason === 'minimum' ? minimums : nameOf(OPTIONS[reason] ?? reason));
  const reasons = (Object.entries(hidden) as [HiddenReason, number][])
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) =>
      reason === 'guard'
        ? t('subscription.dryRun.guard', { count })
        : t('subscription.dryRun.option', { option: optionOf(reason), count }),
    );
  return reasons.length > 0 ? [t('subscription.dryRun.leftOut', { reasons: reasons.join(t('reply.comma')) })] : [];
}

function sum({ related, posted, since }: DryRun, now: number, t: Translate): string {
  if (related === 0) return t('subscription.dryRun.nothing');
  if (posted === 0) return t('subscription.dryRun.none', { related });
  const days = since === null ? 0 : (now - since) / DAY;
  // A few hours are not enough for a daily average.
  if (days < 1) return t('subscription.dryRun.posted', { posted, related });
  const daily = Math.round(posted / days);
  return daily < 1
    ? t('subscription.dryRun.postedSeldom', { posted, related })
    : t('subscription.dryRun.postedDaily', { posted, related, daily });
}
