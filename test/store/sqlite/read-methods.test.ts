import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { connectExisting } from '../../../src/store/sqlite/database.ts';
import { METHODS, type On } from '../../../src/store/sqlite/methods.ts';
import { openReadMethods } from '../../../src/store/sqlite/read-methods.ts';
import { GUILD, NOW, post, txHash } from '../contract/given.ts';
import { takeStore } from './reused.ts';

/** A store in which the guild has one transfer, and another connection to its file. */
async function openWithTransfer() {
  const { file, open, giveBack } = await takeStore();
  onTestFinished(giveBack);
  const { store, close } = await open();
  onTestFinished(close);
  await post(store, [1]);
  return { file, store, writer: connectExisting(file) };
}

it('reads everything about a transfer as of one moment, whatever is committed between its statements', async () => {
  const { file, writer } = await openWithTransfer();
  let commits = 0;
  /** Called before each statement of the reader. */
  function verbose(sql: unknown): void {
    if (!String(sql).includes('FROM deliveries')) return;
    writer.exec('DELETE FROM decisions; DELETE FROM alerts');
    commits++;
  }
  const reader = new Database(file, { readonly: true, verbose });
  const { history } = openReadMethods(reader);
  const read = () => history.transfers(GUILD, txHash(1), null, NOW, 5).first;

  const [transfer] = read();
  expect([commits, transfer!.decisions.length, transfer!.alerts.length]).toEqual([1, 1, 1]);
  // The next call sees the commit.
  expect(read()).toEqual([]);
  reader.close();
  writer.close();
});

it('reads a report without waiting for a writer', async () => {
  const { store, writer } = await openWithTransfer();
  writer.exec('BEGIN IMMEDIATE; DELETE FROM decisions');
  const { first } = await store.history.transfers(GUILD, txHash(1), null, NOW, 5);
  expect(first).toMatchObject([{ decisions: [{ outcome: 'matched' }] }]);
  writer.exec('ROLLBACK');
  writer.close();
});

it('runs as reads what the port names as read-only', () => {
  const port = readFileSync(new URL('../../../src/store/store.ts', import.meta.url), 'utf8');
  const groups = port.match(/\/\*\*(?:(?!\*\/).)*Read-only(?:(?!\*\/).)*\*\/\nexport interface/gs)!;
  const named = groups.map((text) => text.slice(text.indexOf('Read-only')).match(/(?<=`)\w+(?=`)/g) ?? []);
  const reads = Object.values(METHODS).flatMap((methods) => {
    const [read, all] = [Object.entries<On>(methods).filter(([, on]) => on !== 'write'), Object.keys(methods)];
    // A group that only reads names no methods.
    return read.length === 0 ? [] : [read.length === all.length ? [] : read.map(([name]) => name)];
  });
  expect(named).toHaveLength(reads.length);
  for (const one of reads) expect(named).toContainEqual(one);
});
