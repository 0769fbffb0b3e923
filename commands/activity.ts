import type { Button, Command, Reply } from '../src/discord/command.ts';
import { type AddressText, shortAddress } from '../src/domain/address.ts';
import { DAY } from '../src/domain/clock.ts';
import { UserError } from '../src/errors.ts';
import { type ActivityRequest, PERIODS, periodOf, readActivityFile, readBalances, report } from './activity/report.ts';
import { hiddenFrom, visibleTo } from './shared/channels.ts';
import { choice, define, lookedUp } from './shared/define.ts';
import { namesByAddress, readAddress, titleName } from './shared/names.ts';
import { naming, networkOption, onNetwork, pickedNetwork } from './shared/networks.ts';
import { fullAddress } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { addressChoice, choicesWith } from './shared/suggestions.ts';

type Asked = Pick<ActivityRequest, 'period' | 'network'> & { address: string };

const askedBy = ([period, address = '', network = '']: string[]): Asked => ({
  address,
  period: periodOf(period),
  network: /^\d+$/.test(network) ? Number(network) : null,
});

const csvButton: Button<Context> = {
  access: 'all',
  response: 'reply',
  async press(interaction, args, context) {
    const { t } = context;
    const request = await requestFor(askedBy(args), context);
    const balances = await readBalances(request, context);
    const { csv, omitted, cut } = await context.guildQueue.run(interaction.guildId, 'read', () =>
      readActivityFile(request, balances, context),
    );
    const words = { name: request.name, period: t(`activity.period.${request.period}`) };
    const lines = [
      t('activity.file', words),
      ...(omitted > 0 ? [t('activity.fileLeft', { count: omitted })] : []),
      ...(cut === null ? [] : [t('subscription.dryRun.cut', { count: cut })]),
    ];
    return { content: lines.join('\n'), files: [{ name: `activity-${request.period}.csv`, data: csv }] };
  },
};

export const activity = {
  section: 'understand',
  data: define('activity', 'Show what an address did: chart, totals, largest transfers', [
    lookedUp('address', 'A watched address, or its name'),
    choice(
      'period',
      'How far back (default: 7 days)',
      Object.entries(PERIODS).map(([value, { name }]) => ({ name, value })),
    ),
    networkOption('Only on this network (default: every network)'),
  ]),
  access: 'all',
  execute(interaction, context) {
    const address = interaction.options.getString('address', true);
    const period = periodOf(interaction.options.getString('period'));
    return show({ address, period, network: pickedNetwork(interaction, context) }, context);
  },
  async autocomplete(interaction, context) {
    const choices = [...(await watched(context))].map(([address, name]) => addressChoice(address, name));
    return choicesWith(interaction.options.getFocused(), choices);
  },
  buttons: {
    show: { access: 'all', press: (_, args, context) => show(askedBy(args), context) },
    csv: csvButton,
  },
} satisfies Command<Context>;

async function show(asked: Asked, context: Context): Promise<Reply> {
  const on = onNetwork(context, asked.network);
  const request = await requestFor(asked, on);
  const balances = await readBalances(request, context);
  // Drawing the chart is queued too: charts are drawn one at a time for all guilds.
  const reply = await context.guildQueue.run(context.guildId, 'read', async () => {
    const known = await context.tokens.known(context.guildId);
    return report(balances, { ...on, request, known });
  });
  return asked.network === null ? reply : naming(reply, on);
}

async function requestFor(asked: Asked, context: Context): Promise<ActivityRequest> {
  const { interaction, t, settings, server, now } = context;
  const known = await watched(context);
  // Resolving any name would reveal addresses that the member cannot see.
  const names = context.manages
    ? await namesByAddress(interaction.guildId, context)
    : new Map([...known].flatMap(([address, name]) => (name === null ? [] : [[address, name] as const])));
  const { period, network } = asked;
  const address = readAddress(asked.address, t, { names, noName: t('label.noName') });
  const name = known.get(address);
  if (name === undefined) throw new UserError(t('activity.notWatched', { address: fullAddress(address, settings) }));
  const { guildId } = interaction;
  const until = now();
  const since = until - PERIODS[period].days * DAY;
  // Includes channels that its subscriptions were moved from.
  const postedIn = await context.guildQueue.run(guildId, 'read', () =>
    context.history.activityChannels({ guildId, address, since, until }),
  );
  const hidden = await hiddenFrom(interaction, postedIn, context);
  return {
    name: titleName(name, `\`${shortAddress(address)}\``),
    period,
    guildId,
    address,
    network,
    channelIds: postedIn.filter((channelId) => !hidden.has(channelId)),
    since,
    until,
    timezone: server.timezone ?? 'UTC',
  };
}

async function watched(context: Context): Promise<Map<AddressText, string | null>> {
  return new Map((await visibleTo(context)).map(({ address, label }) => [address, label]));
}
