import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { inboxTable } from '../../src/store/sqlite/inbox.ts';

it('reads the oldest deliveries up to a number or a total of characters', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerbell-inbox-'));
  const { db, close } = openDatabase(join(folder, 'test.sqlite'));
  const inbox = inboxTable(db);
  const body = Buffer.alloc(100, 'x');
  const ids = inbox.append(Array.from({ length: 6 }, () => ({ scope: 0, receivedAt: 1, body })));
  expect(inbox.next(100, 400).map(({ id }) => id)).toEqual(ids.slice(0, 4));
  expect(inbox.next(3, 400).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  close();
  rmSync(folder, { recursive: true });
});
