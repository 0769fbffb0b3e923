import type { AutocompleteUse, Button, ButtonUse, Command, CommandUse, Reply } from '../src/discord/command.ts';
import type { AddressText } from '../src/domain/address.ts';
import { DAY } from '../src/domain/clock.ts';
import { UserError } from '../src/errors.ts';
import { type ActivityRequest, readActivity, readActivityFile } from './activity/read.ts';
import { type PeriodName, periodOf, report, type Shown } from './activity/report.ts';
import { addressChoice, choicesWith } from './shared/choices.ts';
import { define } from './shared/define.ts';
import { titleName } from './shared/naming.ts';
import { readAddressOrName } from './shared/read-address.ts';
import { fullAddress, shortAddress } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { visibleTo } from './shared/subscriptions.ts';
import { catalogedAmong } from './shared/tokens.ts';
import { hiddenFrom } from './shared/visibility.ts';

type Needs = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'labels'
  | 'history'
  | 'tokens'
  | 'guildQueue'
  | 'settings'
  | 'now'
  | 'moved'
  | 'assetName'
  | 'chart'
>;

const PERIODS: Record<PeriodName, string> = { '24h': 'last 24 hours', '7d': 'last 7 days', '30d': 'last 30 days' };

/** Maximum number of transfers read, latest first: somebody waits for the reply. */
const MAX_TRANSFERS = 100_000;

/** `activity:show:<period>:<address>` */
const showButton: Button<Needs> = {
  access: 'all',
  response: 'update',
  press: (interaction, [period, address], context) => show(interaction, context, address ?? '', periodOf(period)),
};

/** `activity:csv:<period>:<address>` */
const csvButton: Button<Needs> = {
  access: 'all',
  response: 'reply',
  async press(interaction, [period, address], context) {
    const { t } = context;
    const query = await queryFor(interaction, context, address ?? '', periodOf(period));
    const { csv, left, cut } = await context.guildQueue.run(interaction.guildId, 'read', () =>
      readActivityFile(context, query.request),
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
  data: define('activity', 'Show what an address did: chart, totals, largest transfers')
    .addStringOption((option) =>
      option
        .setName('address')
        .setDescription('A watched address, or its name')
        .setRequired(true)
        .setAutocomplete(true)
        .setMaxLength(300),
    )
    .addStringOption((option) =>
      option
        .setName('period')
        .setDescription('How far back (default: 7 days)')
        .addChoices(...Object.entries(PERIODS).map(([value, name]) => ({ name, value }))),
    ),
  access: 'all',
  execute(interaction, context) {
    const address = interaction.options.getString('address', true);
    return show(interaction, context, address, periodOf(interaction.options.getString('period')));
  },
  async autocomplete(interaction, context) {
    const choices = [...(await watched(interaction, context))].map(([address, name]) => addressChoice(address, name));
    return choicesWith(interaction.options.getFocused(), choices);
  },
  buttons: { show: showButton, csv: csvButton },
} satisfies Command<Needs>;

async function show(
  interaction: CommandUse | ButtonUse,
  context: Needs,
  typed: string,
  period: PeriodName,
): Promise<Reply> {
  const query = await queryFor(interaction, context, typed, period);
  const { guildId } = interaction;
  // Drawing the chart is queued too: charts are drawn one at a time for all guilds.
  return context.guildQueue.run(guildId, 'read', async () =>
    report(await readActivity(context, query.request), query, guildId, {
      ...context,
      cataloged: catalogedAmong(await context.tokens.known(guildId)),
    }),
  );
}

/** Resolves the typed address to a request about a watched one, limited to channels that the person can see. */
async function queryFor(
  interaction: CommandUse | ButtonUse,
  context: Needs,
  typed: string,
  period: PeriodName,
): Promise<Shown & { request: ActivityRequest }> {
  const { t, settings, server, now } = context;
  const known = await watched(interaction, context);
  const named = [...known].flatMap(([address, name]) => (name === null ? [] : [[address, name] as const]));
  const address = readAddressOrName(typed, named, t);
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
    request: {
      guildId,
      address,
      channelIds: postedIn.filter((channelId) => !hidden.has(channelId)),
      since,
      until: at,
      timezone,
      max: MAX_TRANSFERS,
    },
  };
}

/** The addresses watched in channels that the person can see, with the guild's names for them; null: no name. */
async function watched(
  interaction: CommandUse | ButtonUse | AutocompleteUse,
  context: Needs,
): Promise<Map<AddressText, string | null>> {
  return new Map((await visibleTo(interaction, context)).map(({ address, label }) => [address, label]));
}
