import Database from 'better-sqlite3';
import { seed } from '../../sandbox/discord/index.ts';
import type { Transfer } from '../../src/domain/transfer.ts';

/** The other end of made-up transfers. */
export const PAYER = '0x00000000000000000000000000000000000000aa';

/** A transfer of 5 native coins to nobody in particular, seen some milliseconds ago. */
export interface Seen extends Partial<Transfer> {
  ago?: number;
  /** Whose project it came by; 0: the operator's. */
  scope?: number;
  /** The servers in which a subscription was asked about it. */
  guilds?: string[];
}

/** Writes down transfers as if they had come, past the receiver and the router. */
export function remember(file: string, now: number, transfers: Seen[]): void {
  const db = new Database(file, { timeout: 5_000 });
  const transfer = db.prepare(
    `INSERT INTO transfers (key, scope, tx_hash, seen_at, count, bodies, data) VALUES (?, ?, ?, ?, 1, 1, ?) RETURNING id`,
  );
  const decision = db.prepare(
    `INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome, at) VALUES (?, ?, ?, 0, 'matched', ?)`,
  );
  db.transaction(() => {
    for (const { ago = 60_000, scope = 0, guilds = [seed.harbor.id], ...given } of transfers) {
      const key = crypto.randomUUID();
      const data = JSON.stringify({ ...PAYMENT, txHash: `0x${key.replaceAll('-', '').padEnd(64, '0')}`, ...given });
      const { id } = transfer.get(key, scope, key, now - ago, data) as { id: number };
      for (const guild of guilds) decision.run(id, guild, seed.harbor.alerts, now - ago);
    }
  })();
  db.close();
}

/** Writes down what the explorer said of a token. */
export function catalogue(file: string, token: string, symbol: string, cataloged: boolean): void {
  const db = new Database(file, { timeout: 5_000 });
  db.prepare('INSERT INTO catalog (token, cataloged, symbol, name, checked_at) VALUES (?, ?, ?, ?, 0)').run(
    token.toLowerCase(),
    Number(cataloged),
    symbol,
    symbol,
  );
  db.close();
}

/** Notes channels that take no messages. */
export function trouble(file: string, guildId: string, states: Record<string, 'parked' | 'unreachable'>): void {
  const db = new Database(file, { timeout: 5_000 });
  const put = db.prepare('INSERT INTO channels (channel_id, guild_id, state) VALUES (?, ?, ?)');
  for (const [channelId, state] of Object.entries(states)) put.run(channelId, guildId, state);
  db.close();
}

const PAYMENT: Transfer = {
  kind: 'native',
  txHash: '',
  from: PAYER,
  to: PAYER,
  token: null,
  value: '5000000000000000000',
  tokenId: null,
  tokenIdExact: true,
  tokenType: 'ETH',
  tokenName: null,
  tokenSymbol: null,
  decimals: 18,
  internal: false,
  blockNumber: 1,
  blockHash: null,
  gasFee: null,
};
