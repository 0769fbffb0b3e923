import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { beforeEach, describe, expect } from 'vitest';
import { move } from '../../../src/operator/move.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../folder.ts';
import {
  ADA,
  ALICE,
  address,
  BOB,
  CHANNEL,
  decision,
  delivery,
  freeze,
  GUILD,
  NOW,
  newAlert,
  notice,
  OTHER_CHANNEL,
  OTHER_GUILD,
  PARKED,
  PROGRESS,
  post,
  quarantine,
  received,
  routed,
  saveProject,
  send,
  storedTransfer,
  subscribe,
  TREASURY,
  USDC,
} from '../contract/given.ts';
import { openStore } from '../sqlite/database-file.ts';
import { onPostgres as it } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

let folder: string;
let file: string;
const fileUrl = (name: string): string => `sqlite:${join(folder, name)}`;

/** Text that an engine could spoil: quotes, braces, backslashes, other scripts, emoji. */
const HOSTILE = `O'Neil "{a,b}" \\x00 \\u0000 NULL ${String.fromCodePoint(0x1f680)} \u202e $1`;

async function fill(store: Store): Promise<void> {
  const { id: subscription } = await subscribe(store, {
    label: HOSTILE.slice(0, 32),
    filters: { spam: true } as never,
    watchSilence: true,
    showBalance: true,
    warnBelow: '0.5',
    mentionMinimumUsd: '100',
    mention: `<@${BOB}>`,
  });
  await subscribe(store, { channelId: OTHER_CHANNEL, address: ALICE });
  await store.subscriptions.mute(GUILD, [subscription], NOW + 1);
  await store.subscriptions.muteToken(GUILD, USDC, NOW + 5);
  await store.balances.record({ subscription, network: 0, warnBelow: '0.5', isLow: false }, notice());
  await store.balances.beginStatements(GUILD, NOW);
  await store.guilds.changeSettings(GUILD, { defaultChannel: CHANNEL, timezone: 'Europe/Berlin' });
  const project = { guildId: GUILD, projectId: 'p', sealed: new Uint8Array([0, 255, 39, 92]), signed: true };
  const scope = await store.projects.save(project, 'first-token');
  await store.projects.rotateToken(scope, 'second-token');
  await store.projects.nameWebhook(GUILD, 0, 'hook', HOSTILE);
  await store.projects.chooseWebhook(GUILD, 0, 'hook');
  const signed = received(Buffer.from([0, 1, 254, 255]), { scope, identity: { id: 'a' } as never });
  await store.inbox.append([signed, received('{"a":"\0"}')]);
  await quarantine(store, ['x', Buffer.alloc(300, 0)], scope);
  const nameless = { token: address(0x444), tokenName: 'a\0b', tokenSymbol: '\0' };
  const held = newAlert(1, { hold: 'daily', dueAt: NOW + 9 });
  await store.routing.commit(
    routed({
      transfers: [storedTransfer(1, { transfer: nameless, reorganized: true })],
      deliveries: [delivery(1, { inWindow: 2, ids: ['i'], places: ['p'] })],
      alerts: [held, newAlert(1, { channelId: '2001', guildId: OTHER_GUILD })],
      decisions: [decision(1, { subscription })],
      stats: [{ subscription, events: 21, lastEventAt: NOW, gapMs: 1000 }],
      learned: {
        catalog: [
          { network: 0, token: USDC, cataloged: true, symbol: 'US\0DC', name: HOSTILE, checkedAt: NOW },
          { network: 0, token: ALICE, cataloged: null, symbol: null, name: null, checkedAt: NOW },
        ],
        counterparties: [{ guildId: GUILD, address: TREASURY, counterparty: ALICE, seenAt: NOW, isPaid: false }],
        nativeSymbols: [{ network: 0, symbol: 'ETH' }],
        heads: [{ scope: 0, at: NOW, block: 7 }],
      },
    }),
  );
  await post(store, [2, 3]);
  await send(store, {}, NOW + 1);
  await post(store, [4], { now: NOW + 2 });
  await store.outbox.deadLetter(await freeze(store, {}, NOW + 2), HOSTILE, NOW + 3);
  await store.outbox.requestRerender([{ channelId: CHANNEL, reference: `reference-${NOW + 1}` }], NOW + 4);
  await store.channels.setState(PARKED, notice({ channelId: OTHER_CHANNEL, aboutChannelId: CHANNEL }));
  await store.channels.guildRemoved('3000', NOW, NOW);
  await store.audit.record({ guildId: GUILD, userId: ADA, action: 'label.set', detail: { name: HOSTILE }, at: NOW });
  const detail = { webhook: HOSTILE, addresses: [ALICE] };
  await store.confirmations.ask({ guildId: GUILD, userId: ADA, action: 'webhook.restore', detail, askedAt: NOW }, 5);
  await saveProject(store, '4000');
  await store.erasure.begin('4000');
  await store.chainChecks.advance(0, PROGRESS, new Map([[ALICE, 10n ** 30n]]));
  await store.uptime.record(NOW, [{ from: NOW - 9, to: NOW } as never]);
  // Ids that were assigned and whose rows are gone: no later row may have them.
  await post(store, [5], { channelId: '1003', now: NOW + 5 });
  await store.outbox.unfreeze(await freeze(store, { channelId: '1003' }, NOW + 5));
  await store.subscriptions.remove(GUILD, (await subscribe(store, { address: address(9) })).id);
}

async function withStore<T>(url: string, act: (store: Store) => Promise<T>): Promise<T> {
  const { store, close } = url.startsWith('sqlite:') ? await openStore(url.slice(7)) : await openForTest(url);
  try {
    return await act(store);
  } finally {
    await close();
  }
}

/** As JSON, with what Postgres keeps instead of NUL. */
const text = (data: unknown): unknown =>
  JSON.parse(
    JSON.stringify(data, (_, value) => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value)),
  );

function dump(url: string): Record<string, unknown[]> {
  const db = new Database(url.slice(7), { readonly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const rows = tables.map((name) => [name, db.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all()] as const);
  db.close();
  return Object.fromEntries(rows);
}

describe.skipIf(isPostgresMissing())('moving an installation', () => {
  beforeEach(() => {
    folder = temporaryFolder();
    file = fileUrl('bot.sqlite');
  });

  it('moves every table to Postgres and back, with the same rows', async ({ url }) => {
    await withStore(file, fill);
    const before = dump(file);
    expect(Object.keys(before).filter((table) => before[table]!.length === 0)).toEqual([]);
    expect(await move(file, url)).toMatch(
      /^Moved \d+ rows in \d+ tables from .*bot\.sqlite to postgres:\/\/.*\/test_\d+\.\n/,
    );
    expect(await withStore(url, (store) => store.subscriptions.list(GUILD))).toHaveLength(2);
    const back = fileUrl('back.sqlite');
    await move(url, back);
    expect(text(dump(back))).toEqual(text(before));
  });

  it('assigns no id twice, not even one whose row was deleted before the move', async ({ url }) => {
    const given = await withStore(file, async (store) => {
      await fill(store);
      const { id } = await subscribe(store, { address: address(10) });
      await store.subscriptions.remove(GUILD, id);
      return id;
    });
    await move(file, url);
    await withStore(url, async (store) => {
      expect((await subscribe(store, { address: address(11) })).id).toBe(given + 1);
      await post(store, [6], { now: NOW + 6 });
    });
    const back = fileUrl('back.sqlite');
    await move(url, back);
    await withStore(back, async (store) =>
      expect((await subscribe(store, { address: address(12) })).id).toBe(given + 2),
    );
  });

  it('leaves an empty target when a move is interrupted, and succeeds when it is repeated', async ({ url }) => {
    await withStore(file, fill);
    const interrupted = move(file, url, (_done, _total, table) => {
      if (table === 'heads') throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await withStore(url, (store) => store.subscriptions.list(GUILD))).toEqual([]);
    expect(await move(file, url)).toContain('same on both sides');
  });

  it('refuses a move after which a row of the target differs, and leaves the target empty', async ({ url }) => {
    await withStore(file, fill);
    await withStore(url, async () => undefined);
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.detail := replace(NEW.detail, 'O', 'o'); RETURN NEW; END $$`);
    await client.query('CREATE TRIGGER spoil BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION spoil()');
    await client.end();
    await expect(move(file, url)).rejects.toThrow(/^audit is not the same in postgres:.* Nothing was changed there\.$/);
    expect(await withStore(url, (store) => store.subscriptions.list(GUILD))).toEqual([]);
  });

  it('refuses to move while a bot uses either database', async ({ url }) => {
    await withStore(file, fill);
    await withStore(file, async () => {
      await expect(move(file, url)).rejects.toThrow('Another process is using');
    });
    await withStore(url, async (store) => {
      await store.subscriptions.list(GUILD);
      await expect(move(file, url)).rejects.toThrow(/Processes are using postgres:\/\/.* Stop every one of them first/);
    });
    expect(await move(file, url)).toContain('same on both sides');
  });

  it('refuses to move from a database that does not exist, or onto itself', async ({ url }) => {
    await expect(move(fileUrl('none.sqlite'), fileUrl('other.sqlite'))).rejects.toThrow('There is no database at');
    await expect(move(url, fileUrl('other.sqlite'))).rejects.toThrow('There is no Ledgerbell in postgres://');
    await expect(move(url, url)).rejects.toThrow('name the same database');
  });
});
