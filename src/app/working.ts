import type { CommandServices } from '../../commands/shared/services.ts';
import { watchBalances } from '../completeness/balances.ts';
import { type Checker, startChecker } from '../completeness/checker.ts';
import { postStatements } from '../completeness/statement-posts.ts';
import { createStatements } from '../completeness/statement-reader.ts';
import { composeNotice } from '../delivery/compose.ts';
import { type GatewayOptions, startGateway } from '../discord/gateway.ts';
import { renderCrossing } from '../discord/render/notice.ts';
import { renderStatement, statementCsv } from '../discord/render/statement.ts';
import { startRouter } from '../routing/router.ts';
import { createTokenCatalog } from '../routing/token-catalog.ts';
import type { Store } from '../store/store.ts';
import { createCommandServices } from './command-services.ts';
import type { AppContext, AppOverrides } from './context.ts';
import type { Data } from './data.ts';
import { watchGaps } from './gap-notices.ts';
import type { Interfaces } from './interfaces.ts';
import { openUptime, startMaintenance } from './maintenance.ts';
import type { Receiving } from './receiving.ts';
import { type Sending, startSending } from './sending.ts';

/** What one process at a time does: it routes, sends, serves commands, and deletes old data. */
export type Working = Awaited<ReturnType<typeof startWorking>>;

/** Parts are created against the direction of events, because each gets the next: sender ← deliverer ← router. */
export async function startWorking(
  context: AppContext,
  data: Data,
  interfaces: Interfaces,
  receiving: Receiving,
  overrides: AppOverrides,
) {
  const { log, clock, stack } = context;
  const { store } = data;
  const { connect = startGateway } = overrides;
  const uptime = await openUptime({ store, clock, log });
  const maySend = () => data.database.lock?.isHeld() ?? true;
  const sending = startSending(context, { store, networks: data.networks, uptime, maySend }, overrides);
  const { balances, statement } = startBalances(context, store, interfaces, sending);
  const router = startRouting(context, store, interfaces, receiving, sending, () => balances?.wake());
  stack.defer(router.close);
  const checkers = startCheckers(context, store, interfaces, router, sending, overrides);
  const given = createCommandServices(context, data, interfaces, receiving, sending, checkers, statement);
  const services = { ...given, ...overrides.services };
  if (checkers.length > 0) stack.defer(watchGaps(context, store, services, sending).close);
  const gateway = connect(gatewayOptions(context, store, sending, services));
  stack.defer(gateway.close);
  const { sender, deliverer } = sending;
  const stop = startMaintenance(store, clock, log, {
    since: uptime.since,
    isDiskLow: receiving.receiver.isDiskLow,
    forgot: (reason, transfers) => context.metrics.forgotten.inc({ reason }, transfers),
    look() {
      const { authorized, breaker } = deliverer.state();
      void uptime.tick(authorized && !breaker);
      // `npm run deadletters` replays deliveries and alerts in a separate process, which cannot wake this one.
      router.wake();
      void deliverer.rescan();
      void router.measureQuarantine();
    },
    async isMember(guildId) {
      const isThere = await sender.isMember(guildId);
      if (isThere) deliverer.guildChanged(guildId);
      return isThere;
    },
    async onBegun(guild) {
      log.info({ guild }, 'erasing the data of a server that removed the bot 30 days ago');
      await data.tokens.refresh();
    },
  });
  stack.defer(stop);
  router.wake();
  return { deliverer, router, gateway, services, checkers, balances };
}

function startCheckers(
  { clock, log, metrics, stack }: AppContext,
  store: Store,
  { all }: Interfaces,
  router: ReturnType<typeof startRouting>,
  { deliverer }: Sending,
  { chainRoundMs }: AppOverrides,
): Checker[] {
  return all.flatMap(({ network, chain }) => {
    if (!chain) return [];
    const checker = startChecker({
      network,
      chain,
      confirmations: network.RPC_CONFIRMATIONS,
      store,
      inbox: router,
      outbox: deliverer,
      onFound: (transfers) => metrics.found.inc(transfers),
      clock,
      log,
      roundMs: chainRoundMs,
    });
    stack.defer(checker.close);
    return checker;
  });
}

function startBalances(
  { clock, log, stack }: AppContext,
  store: Store,
  { all }: Interfaces,
  { deliverer: outbox, settings }: Sending,
) {
  const chains = new Map(all.flatMap(({ network: { id }, chain }) => (chain ? [[id, chain] as const] : [])));
  const statement = createStatements(store, chains);
  if (chains.size === 0) return { balances: null, statement };
  const common = { store, chains, outbox, clock, log };
  const balances = watchBalances({
    ...common,
    render: (crossing, network, language) =>
      composeNotice(clock.now(), (reference) => renderCrossing(crossing, network, settings, language, reference)),
  });
  const posts = postStatements({
    ...common,
    read: statement,
    render: (one) => ({
      ...composeNotice(clock.now(), (reference) => renderStatement(one, settings, reference)),
      attachment: statementCsv(one, settings),
    }),
  });
  stack.defer(balances.close);
  stack.defer(posts.close);
  return { balances, statement };
}

const MAX_PRICED_AT_START = 100;

function startRouting(
  { log, clock, metrics }: AppContext,
  store: Store,
  { all, prices }: Interfaces,
  { receiver }: Receiving,
  { deliverer }: Sending,
  onRouted: () => void,
) {
  // Prices are known soon after a restart. The tokens that were listed last moved last.
  for (const { network } of all) {
    const own = network.PRICES_CHAIN && prices?.on(network.PRICES_CHAIN);
    if (!own) continue;
    void store.tokens
      .known('', network.id)
      .then((some) => own.ask(['native', ...some.slice(0, MAX_PRICED_AT_START).map(({ token }) => token)]))
      .catch((error: unknown) => log.debug({ err: error }, 'cannot read the tokens whose prices are asked for'));
  }
  return startRouter({
    store,
    clock,
    log,
    receiver,
    networks: new Map(
      all.map(({ network: { id, chainId, nativeSymbol, PRICES_CHAIN: chain }, projects, explorer }) => [
        id,
        {
          prices: (chain && prices?.on(chain)) || null,
          chainId,
          nativeSymbol,
          operatorProject: projects.operatorId,
          catalog: explorer && createTokenCatalog({ lookUp: explorer.token, clock }),
        },
      ]),
    ),
    outbox: deliverer,
    count(events) {
      metrics.routed.inc(events);
      onRouted();
    },
  });
}

function gatewayOptions(
  { config, log, clock, random }: AppContext,
  store: Store,
  { deliverer }: Sending,
  services: CommandServices,
): GatewayOptions<CommandServices> {
  return {
    token: config.DISCORD_TOKEN,
    apiUrl: config.DISCORD_API_URL,
    commands: async () => (await import('../../commands/index.ts')).commandsFor(config.networks.length),
    services,
    settingsOf: store.guilds.settings,
    now: clock.now,
    after: clock.after,
    log,
    random,
    membership: deliverer,
  };
}
