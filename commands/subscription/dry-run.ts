import type { APIEmbedField } from 'discord.js';
import { ZERO_ADDRESS } from '../../src/domain/address.ts';
import { DAY } from '../../src/domain/clock.ts';
import { type DryRun, dryRun, type Proposal } from '../../src/domain/dry-run.ts';
import { transactionPage } from '../../src/domain/explorer.ts';
import { imitatedBy } from '../../src/domain/guard.ts';
import { type HiddenReason, otherSides } from '../../src/domain/match.ts';
import type { Perspective } from '../../src/domain/subscription.ts';
import { cutTo } from '../../src/domain/text.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { nameIn } from '../../src/languages/definitions.ts';
import type { Translate } from '../../src/languages/index.ts';
import { impostorsAmong } from '../shared/look-alike.ts';
import { asManyAsFit, relativeTime } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { seenBy } from '../shared/subscriptions.ts';
import { catalogedAmong, knownIn } from '../shared/tokens.ts';
import type { Asker } from '../shared/visibility.ts';

/** What a dry run needs. */
export type DryRunNeeds = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'labels'
  | 'projects'
  | 'tokens'
  | 'history'
  | 'guildQueue'
  | 'settings'
  | 'now'
  | 'moved'
>;

const LOOK_BACK_MS = 7 * DAY;
/** Maximum number of transfers read, latest first: somebody waits for the reply. */
const MAX_TRANSFERS = 50_000;

/** Maximum characters of an amount: a token may claim 255 decimals. */
const MAX_AMOUNT = 120;
/** Maximum characters of a field (Discord allows 1,024) without the end that counts the omitted lines. */
const MAX_FIELD_TEXT = 1_000;
/** The options of rules that have a different name. */
const OPTIONS: Partial<Record<HiddenReason, string>> = {
  'denied-token': 'exclude-tokens',
  'token-list': 'tokens',
  'denied-counterparty': 'exclude-counterparties',
  counterparty: 'counterparties',
};

const ARROWS: Record<Perspective, string> = { incoming: '📥', outgoing: '📤', self: '🔁', token: '🔁' };

/** The dry run: what a subscription would have posted in the last days, with examples. */
export async function dryRunField(
  proposal: Proposal,
  asker: Asker & { guildId: string },
  context: DryRunNeeds,
): Promise<APIEmbedField> {
  const { history, now, t } = context;
  const channelIds = await knownChannels(asker, context);
  const period = { since: now() - LOOK_BACK_MS, until: now(), max: MAX_TRANSFERS, channelIds };
  const found = await context.guildQueue.run(proposal.guildId, 'read', () =>
    dryRun(proposal, period, history.recentTransfers),
  );
  const examples = await exampleLines(found, proposal, asker, context);
  const cut = found.cut === null ? [] : [t('subscription.dryRun.cut', { count: found.cut })];
  const lines = [sum(found, now(), t), ...cut, ...examples, ...leftOut(found, proposal, context)];
  return { name: t('subscription.dryRun.title'), value: asManyAsFit(lines, MAX_FIELD_TEXT) };
}

/** The examples, one line each, with the warnings of alerts about look-alikes and imitations. */
async function exampleLines(
  { examples }: DryRun,
  proposal: Proposal,
  asker: Asker & { guildId: string },
  context: DryRunNeeds,
): Promise<string[]> {
  const { settings, moved, language, t } = context;
  const known = examples.length > 0 ? await knownIn(proposal.guildId, context) : [];
  const cataloged = catalogedAmong(known);
  const partiesOf = (transfer: Transfer) =>
    otherSides(proposal, transfer).flatMap((party) => (party === null || party === ZERO_ADDRESS ? [] : [party]));
  const parties = examples.flatMap(({ transfer }) => partiesOf(transfer));
  const impostors = await impostorsAmong(parties, proposal.address, asker, context);
  const warned = (title: string, { token, tokenSymbol }: Transfer, isLookAlike: boolean): string => {
    if (isLookAlike) return `⚠️ ${t('alert.lookAlike', { title })}`;
    const isImitation = token !== null && imitatedBy(token, tokenSymbol, known) !== null;
    return isImitation ? `⚠️ ${t('alert.imitation', { title })}` : title;
  };
  return examples.map(({ transfer, perspective, seenAt }) => {
    const title = `${ARROWS[perspective]} ${cutTo(moved(transfer, language, cataloged), MAX_AMOUNT)}`;
    const isLookAlike = partiesOf(transfer).some((party) => impostors.has(party));
    const url = transactionPage(settings, transfer.txHash);
    return `${warned(title, transfer, isLookAlike)} · ${relativeTime(seenAt)}${url ? ` · [tx](${url})` : ''}`;
  });
}

/**
 * The channels to whose transfers a dry run is limited; null: all transfers of the guild's project. Only people who see
 * every watching channel of a guild that manages its project may learn what else arrives there.
 */
async function knownChannels(asker: Asker & { guildId: string }, context: DryRunNeeds): Promise<string[] | null> {
  const [{ visible, unseen }, { scope }] = await Promise.all([
    seenBy(asker, context),
    context.projects.of(asker.guildId),
  ]);
  if (scope !== null && unseen.length === 0) return null;
  return [...new Set(visible.map(({ channelId }) => channelId))];
}

/** How many transfers each option left out, with the option's name in the person's language. */
function leftOut(
  { hidden }: DryRun,
  { minimum, filters }: Pick<Proposal, 'minimum' | 'filters'>,
  { t, language }: ContextWith,
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
