import { watchGaps } from '../../commands/shared/gap-notices.ts';
import { watchBalances } from '../completeness/balances.ts';
import { startChecker } from '../completeness/checker.ts';
import { postStatements } from '../completeness/statement-posts.ts';
import { createStatements } from '../completeness/statement-reader.ts';
import { startDeliverer } from '../delivery/deliverer.ts';
import { composeNotice } from '../delivery/send.ts';
import { watchSilence } from '../delivery/silence.ts';
import { startGateway } from '../discord/gateway.ts';
import { renderCrossing, renderSilence } from '../discord/render/notice.ts';
import { createRenderers, renderSettings } from '../discord/render/renderers.ts';
import { renderStatement, statementCsv } from '../discord/render/statement.ts';
import type { RenderSettings } from '../discord/render/wording.ts';
import { createSender } from '../discord/sender.ts';
import type { Inbox } from '../domain/inbox.ts';
import type { Outbox } from '../domain/sender.ts';
import { openUptime, startMaintenance, type Uptime } from '../maintenance.ts';
import { startRouter } from '../routing/router.ts';
import { createTokenCatalog } from '../routing/token-catalog.ts';
import { createCommandServices } from './command-services.ts';
import type { AppOverrides, Base, Parts } from './context.ts';

/** The part of the app that runs in one process at a time: routing, sending, commands, and retention. */
export type Working = Awaited<ReturnType<typeof startWorking>>;

/** Parts are created against the direction of events, because each gets the next: sender ← deliverer ← router. */
export async function startWorking(parts: Parts, overrides: AppOverrides) {
  const { config, store, networks, clock, log, random, stack } = parts;
  const uptime = await openUptime(parts);
  const settings = renderSettings(networks, log);
  const { sender, deliverer } = startSending(parts, settings, uptime, overrides);
  const { balances, statement } = watchWallets(parts, settings, deliverer);
  const router = startRouting(parts, deliverer, balances);
  stack.defer(router.close);
  const checkers = startCheckers(parts, router, deliverer, overrides);
  const given = createCommandServices(parts, settings, deliverer, checkers, statement);
  const services = { ...given, ...overrides.services };
  if (checkers.length > 0) stack.defer(watchGaps(services, deliverer, clock, log).close);
  const { connect = startGateway } = overrides;
  const gateway = connect({
    token: config.DISCORD_TOKEN,
    apiUrl: config.DISCORD_API_URL,
    commands: async () => (await import('../../commands/index.ts')).commandsFor(networks.length),
    services,
    settingsOf: store.guilds.settings,
    now: clock.now,
    after: clock.after,
    log,
    random,
    membership: deliverer,
  });
  stack.defer(gateway.close);
  const stop = startMaintenance(store, clock, log, {
    since: uptime.since,
    isDiskLow: parts.receiving.receiver.isDiskLow,
    forgot: (reason, transfers) => parts.metrics.forgotten.inc({ reason }, transfers),
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
      await parts.tokens.refresh();
    },
  });
  stack.defer(stop);
  router.wake();
  return { deliverer, router, gateway, services, checkers, balances };
}

function startSending(
  { config, database, store, metrics, clock, log, random, stack }: Base,
  settings: RenderSettings,
  uptime: Pick<Uptime, 'since'>,
  given: Pick<AppOverrides, 'sender' | 'renderers'>,
) {
  const { DISCORD_TOKEN: token, DISCORD_API_URL: apiUrl } = config;
  const sender = given.sender ?? createSender({ token, apiUrl, maySend: () => database.lock?.isHeld() ?? true });
  const options = { store, sender, clock, log, random, metrics, uptimeSince: uptime.since };
  const deliverer = startDeliverer({ ...options, ...createRenderers(settings), ...given.renderers });
  stack.defer(deliverer.close);
  const silence = watchSilence({ store, clock, log, render: renderSilence, outbox: deliverer });
  stack.defer(silence.close);
  return { sender, deliverer };
}

/** Balances after alerts, low ones, and statements: what a network's node is asked for. */
function watchWallets({ store, interfaces, clock, log, stack }: Base, settings: RenderSettings, outbox: Outbox) {
  const chains = new Map(interfaces.all.flatMap(({ network: { id }, chain }) => (chain ? [[id, chain] as const] : [])));
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
    render: (read) => ({
      ...composeNotice(clock.now(), (reference) => renderStatement(read, settings, reference)),
      attachment: statementCsv(read, settings),
    }),
  });
  stack.defer(balances.close);
  stack.defer(posts.close);
  return { balances, statement };
}

function startRouting(
  { store, interfaces: { all, prices }, receiving, metrics, clock, log }: Parts,
  outbox: Outbox,
  balances: { wake(): void } | null,
) {
  return startRouter({
    store,
    clock,
    log,
    receiver: receiving.receiver,
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
    outbox,
    count(events) {
      metrics.routed.inc(events);
      balances?.wake();
    },
  });
}

function startCheckers(
  { store, interfaces, metrics, clock, log, stack }: Base,
  inbox: Inbox,
  outbox: Outbox,
  { chainRoundMs: roundMs }: Pick<AppOverrides, 'chainRoundMs'>,
) {
  const onFound = (transfers: number) => metrics.found.inc(transfers);
  const common = { store, inbox, outbox, onFound, roundMs, clock, log };
  return interfaces.all.flatMap(({ network, chain }) => {
    if (!chain) return [];
    const confirmations = network.RPC_CONFIRMATIONS;
    return stack.adopt(startChecker({ ...common, network, chain, confirmations }), ({ close }) => close());
  });
}
