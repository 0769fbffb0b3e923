import type { Logger } from 'pino';
import {
  type AssetWords,
  countedAssets,
  type GuildStatement,
  type KeptBalances,
  periodAt,
  type StatementPlan,
  walletKey,
} from '../domain/balance.ts';
import { composeNotice } from '../domain/batch.ts';
import { type Clock, MINUTE, workEvery } from '../domain/clock.ts';
import type { Outbox } from '../domain/sender.ts';
import type { Store } from '../store/store.ts';
import type { createStatements } from './statement-reader.ts';

const MAX_ASSETS = 20;

interface StatementOptions {
  store: Pick<Store, 'balances' | 'chainChecks' | 'guilds' | 'tokens'>;
  read: ReturnType<typeof createStatements>;
  chains: ReadonlyMap<number, unknown>;
  renderStatement(statement: GuildStatement, reference: string): object;
  statementCsv(statement: GuildStatement): string;
  outbox: Outbox;
  clock: Clock;
  log: Logger;
}

/** Posts each guild's statement once a period is over and everything in it was compared with the chain, also late. */
export function postStatements(options: StatementOptions) {
  const { store, read, chains, renderStatement, statementCsv, outbox, clock, log } = options;

  async function check(isClosed: () => boolean): Promise<void> {
    try {
      for (const plan of await store.balances.statements()) if (!isClosed()) await post(plan, isClosed);
    } catch (error) {
      if (!isClosed()) log.warn({ err: error }, 'making a statement failed; trying again in a minute');
    }
  }

  async function post(plan: StatementPlan, isClosed: () => boolean): Promise<void> {
    const { guildId, period } = plan;
    const timezone = plan.timezone ?? 'UTC';
    if (plan.until === null) {
      await store.balances.beginStatements(guildId, periodAt(clock.now(), period, timezone).since);
      return;
    }
    const since = plan.until;
    const { until } = periodAt(since, period, timezone);
    if (until > clock.now()) return;
    const wallets: GuildStatement['wallets'] = [];
    const known = await store.tokens.known(guildId);
    for (const network of chains.keys()) {
      const { scope, wallets: all } = await store.balances.wallets(guildId, network);
      const watched = all.filter((wallet) => wallet.since < until);
      if (watched.length > 0 && !(await isCompared(network, until))) return;
      const wants = countedAssets(known.filter((token) => token.network === network));
      for (const wallet of watched) {
        const { address } = wallet;
        // A wallet that was removed and added again has a gap.
        const before = wallet.since <= since ? plan.closing[walletKey({ network, address })] : undefined;
        const limits = { since: Math.max(since, wallet.since), until, max: MAX_ASSETS, before };
        const outcome = await read({ network, scope, address, wants, ...limits });
        if (outcome.status === 'away' || isClosed()) return;
        if (outcome.status === 'read') wallets.push({ ...wallet, statement: outcome.statement });
      }
    }
    const language = await store.guilds.language(guildId);
    const statement = { plan, since, until, wallets, known, language };
    const bodyOf = (reference: string) => renderStatement(statement, reference);
    const made =
      wallets.length === 0 ? null : { ...composeNotice(clock.now(), bodyOf), attachment: statementCsv(statement) };
    const posted = { guildId, since, until, closing: closingOf(wallets) };
    const channelId = await store.balances.postStatement(posted, made);
    if (channelId !== null) outbox.wake([{ channelId, guildId }]);
  }

  async function isCompared(network: number, until: number): Promise<boolean> {
    const known = await store.chainChecks.progress(network);
    return known !== null && known.progress.blockAt >= until;
  }

  return workEvery(clock, MINUTE, check);
}

/** Kept because a node may have forgotten these balances when the next statement begins. */
function closingOf(wallets: GuildStatement['wallets']): KeptBalances {
  return Object.fromEntries(
    wallets.map(({ statement }) => {
      const known = statement.sums.flatMap(({ asset, closing }) =>
        closing === null ? [] : [[asset, closing.toString()] as const],
      );
      const words = statement.sums.flatMap(({ asset, transfer, closing }) =>
        transfer === null || closing === 0n ? [] : [[asset, wordsOf(transfer)] as const],
      );
      const kept = { block: statement.range.upTo, of: Object.fromEntries(known), words: Object.fromEntries(words) };
      return [walletKey(statement), kept];
    }),
  );
}

const wordsOf = ({ kind, token, tokenName, tokenSymbol, tokenType, decimals }: AssetWords): AssetWords => ({
  kind,
  token,
  tokenName,
  tokenSymbol,
  tokenType,
  decimals,
});
