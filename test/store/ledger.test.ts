import type { Database } from 'better-sqlite3';
import { expect, it } from 'vitest';
import { tokensTable } from '../../src/store/sqlite/ledger.ts';
import { openHere, put, putTransfer } from './opened.ts';

/** Notes that a subscription of a server was asked about a transfer at this time. */
function decide(db: Database, at: number, data: object, guild = 'g'): void {
  const decision = { guild_id: guild, channel_id: 'c', subscription_id: 1, outcome: 'matched', at };
  put(db, 'decisions', { ...decision, transfer_id: putTransfer(db, at, data) });
}
const erc20 = (token: string) => ({ kind: 'erc20', token, tokenSymbol: `${token}!`, tokenType: 'ERC-20' });
const coin = { kind: 'native', token: null, tokenSymbol: null, tokenType: 'FUSE' };
const catalogue = (db: Database, token: string, cataloged: number | null, symbol: string | null, checkedAt: number) =>
  put(db, 'catalog', { token, cataloged, symbol, checked_at: checkedAt });

it('a server’s tokens are what moved there, most often first, and then what the catalogue has, the latest look-up first', () => {
  const db = openHere();
  const moved = [erc20('once'), erc20('twice'), erc20('twice'), coin, coin, coin, { kind: 'unknown', token: null }];
  for (const [at, data] of moved.entries()) decide(db, at, data);
  decide(db, 9, erc20('elsewhere'), 'another');
  catalogue(db, 'twice', 1, 'TWICE', 1);
  catalogue(db, 'once', 0, 'ONCE', 1);
  catalogue(db, 'early', 1, 'EARLY', 1);
  catalogue(db, 'late', 1, 'LATE', 2);
  catalogue(db, 'nameless', 1, null, 1);
  catalogue(db, 'stray', 0, 'STRAY', 1);
  catalogue(db, 'unsaid', null, 'UNSAID', 1);
  expect(tokensTable(db).known('g')).toEqual([
    { token: 'native', symbol: 'FUSE', cataloged: false, seen: true },
    { token: 'twice', symbol: 'twice!', cataloged: true, seen: true },
    { token: 'once', symbol: 'once!', cataloged: false, seen: true },
    { token: 'late', symbol: 'LATE', cataloged: true, seen: false },
    { token: 'early', symbol: 'EARLY', cataloged: true, seen: false },
  ]);
});

it('only the latest decisions of the server itself tell what moved', () => {
  const db = openHere();
  const many = db.transaction(() => {
    decide(db, 2_001, erc20('latest'));
    for (let at = 2_000; at > 0; at--) decide(db, at, at === 1 ? erc20('oldest') : coin);
    for (let at = 3_000; at > 2_900; at--) decide(db, at, coin, 'another');
  });
  many();
  const tokens = () =>
    tokensTable(db)
      .known('g')
      .map(({ token }) => token);
  expect(tokens()).toEqual(['native', 'latest']);
  db.exec('DELETE FROM decisions WHERE at = 2000');
  expect(tokens().sort()).toEqual(['latest', 'native', 'oldest']);
});
