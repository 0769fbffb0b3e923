import type { AutocompleteUse, Button, Command, Reply, Use } from '../src/discord/command.ts';
import type { AddressText } from '../src/domain/address.ts';
import { DAY } from '../src/domain/clock.ts';
import { shortAddress } from '../src/domain/typed-address.ts';
import { UserError } from '../src/errors.ts';
import { balanceLines, readBalances } from './activity/balances.ts';
import { type ActivityRequest, readActivity, readActivityFile } from './activity/read.ts';
import { type PeriodName, periodOf, report, type Shown } from './activity/report.ts';
import { choice, define, lookedUp } from './shared/define.ts';
import { titleName } from './shared/naming.ts';
import { hasSeveral, naming, networkOption, onNetwork, pickedNetwork } from './shared/networks.ts';
import { bookOf, readAddress } from './shared/read-address.ts';
import { fullAddress } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { addressChoice, choicesWith } from './shared/suggestions.ts';
import { hiddenFrom, visibleTo } from './shared/visibility.ts';

const PERIODS: Record<PeriodName, string> = { '24h': 'last 24 hours', '7d': 'last 7 days', '30d': 'last 30 days' };

/** Maximum number of transfers read, latest first: somebody waits for the reply. */
const MAX_TRANSFERS = 100_000;

/** A network's ID in a custom ID; null: every network. */
const networkOf = (text = ''): number | null => (/^\d+$/.test(text) ? Number(text) : null);

/** `activity:show:<period>:<address>:<network>` */
const showButton: Button<Context> = {
  access: 'all',
  press: (interaction, [period, address, network], context) =>
    show(interaction, context, address ?? '', periodOf(period), networkOf(network)),
};

/** `activity:csv:<period>:<address>:<network>` */
const csvButton: Button<Context> = {
  access: 'all',
  response: 'reply',
  async press(interaction, [period, address, network], context) {
    const { t } = context;
    const query = await queryFor(interaction, context, address ?? '', periodOf(period), networkOf(network));
    const balances = await readBalances(query.request, context);
    const { csv, left, cut } = await context.guildQueue.run(interaction.guildId, 'read', () =>
      readActivityFile(context, query.request, balances, context.settings.networks),
    );
    const words = { name: query.name, period: t(`activity.period.${query.period}`) };
    const lines = [
      t('activity.file', words),
      ...(left > 0 ? [t('activity.fileLeft', { count: left })] : []),
      ...(cut === null ? [] : [t('subscription.dryRun.cut', { count: cut })]),
    ];
    return { content: lines.join('\n'), files: [{ name: `activity-${query.period}.csv`, data: csv }] };
  },
};

/** `/activity`: a watched address's chart, sums and largest transfers, as far as the person may see them. */
export const activity = {
  section: 'understand',
  data: define('activity', 'Show what an address did: chart, totals, largest transfers', [
    lookedUp('address', 'A watched address, or its name'),
    choice(
      'period',
      'How far back (default: 7 days)',
      Object.entries(PERIODS).map(([value, name]) => ({ name, value })),
    ),
    networkOption('Only on this network (default: every network)'),
  ]),
  access: 'all',
  execute(interaction, context) {
    const address = interaction.options.getString('address', true);
    const period = periodOf(interaction.options.getString('period'));
    return show(interaction, context, address, period, pickedNetwork(interaction, context));
  },
  async autocomplete(interaction, context) {
    const choices = [...(await watched(interaction, context))].map(([address, name]) => addressChoice(address, name));
    return choicesWith(interaction.options.getFocused(), choices);
  },
  buttons: { show: showButton, csv: csvButton },
} satisfies Command<Context>;

async function show(
  interaction: Use,
  context: Context,
  typed: string,
  period: PeriodName,
  network: number | null,
): Promise<Reply> {
  const on = onNetwork(context, network);
  const query = await queryFor(interaction, on, typed, period, network);
  const { guildId } = interaction;
  const balances = await balanceLines(query.request, await readBalances(query.request, context), context);
  // Drawing the chart is queued too: charts are drawn one at a time for all guilds.
  const reply = await context.guildQueue.run(guildId, 'read', async () => {
    const known = await context.tokens.known(guildId);
    const namesNetworks = network === null && hasSeveral(context.settings);
    const found = await readActivity(context, query.request, known);
    return report(found, query, guildId, { ...on, balanceLines: balances, known, namesNetworks });
  });
  return network === null ? reply : naming(reply, on);
}

/** Resolves the typed address to a request about a watched one, limited to channels that the person can see. */
async function queryFor(
  interaction: Use,
  context: Context,
  typed: string,
  period: PeriodName,
  network: number | null,
): Promise<Shown & { request: ActivityRequest }> {
  const { t, settings, server, now } = context;
  const known = await watched(interaction, context);
  // A name would tell others an address that they do not see.
  const names = context.manages
    ? await bookOf(interaction.guildId, context)
    : [...known].flatMap(([address, name]) => (name === null ? [] : [[address, name] as const]));
  const address = readAddress(typed, t, { names, noName: t('label.noName') });
  const name = known.get(address);
  if (name === undefined) throw new UserError(t('activity.notWatched', { address: fullAddress(address, settings) }));
  const at = now();
  const timezone = server.timezone ?? 'UTC';
  const since = at - { '24h': 1, '7d': 7, '30d': 30 }[period] * DAY;
  // Includes channels that its subscriptions were moved from.
  const { guildId } = interaction;
  const postedIn = await context.guildQueue.run(guildId, 'read', () =>
    context.history.activityChannels({ guildId, address, since, until: at }),
  );
  const hidden = await hiddenFrom(interaction, postedIn, context);
  return {
    address,
    name: titleName(name, `\`${shortAddress(address)}\``),
    period,
    timezone,
    network,
    request: {
      guildId,
      address,
      network,
      channelIds: postedIn.filter((channelId) => !hidden.has(channelId)),
      since,
      until: at,
      timezone,
      max: MAX_TRANSFERS,
    },
  };
}

/** The addresses watched in channels that the person can see, with the guild's names for them; null: no name. */
async function watched(interaction: Use | AutocompleteUse, context: Context): Promise<Map<AddressText, string | null>> {
  return new Map((await visibleTo(interaction, context)).map(({ address, label }) => [address, label]));
}
