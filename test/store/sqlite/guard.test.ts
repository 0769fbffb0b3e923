import { describe, expect, it } from 'vitest';
import type { AddressText } from '../../../src/domain/address.ts';
import { latenessOf } from '../../../src/domain/lateness.ts';
import type { Learned } from '../../../src/domain/routing.ts';
import { guardTables } from '../../../src/store/sqlite/guard.ts';
import { openHere } from './opened.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const OWN = 7;
const TOKEN: AddressText = `0x${'1'.repeat(40)}`;
const NOTHING: Learned = { catalog: [], counterparties: [], nativeSymbol: null, heads: [] };

function guardHere() {
  const db = openHere();
  const guard = guardTables(db);
  return {
    ...guard,
    db,
    /** Notes blocks, each with its scope and minute. */
    reach(...heads: [scope: number, block: number, minute: number][]) {
      for (const [scope, block, minute] of heads) {
        guard.keep({ ...NOTHING, heads: [{ scope, block, at: minute * MINUTE }] });
      }
    },
    heads: () => db.prepare('SELECT scope, block, at / 60000.0 FROM heads ORDER BY at, scope').raw().all(),
    /** By how many minutes a block is late. */
    late(scope: number, block: number, minute: number) {
      const at = minute * MINUTE;
      const ms = latenessOf(guard.passedAt()(scope, block, at), at);
      return ms === null ? null : ms / MINUTE;
    },
  };
}

describe('a project’s newest blocks', () => {
  it('samples how far a project has come once a minute, for each project on its own', () => {
    const { reach, heads } = guardHere();
    reach([0, 100, 0], [OWN, 900, 0.5], [0, 101, 0.9], [0, 102, 1], [OWN, 901, 1.5]);
    expect(heads()).toEqual([
      [0, 100, 0],
      [OWN, 900, 0.5],
      [0, 102, 1],
      [OWN, 901, 1.5],
    ]);
  });

  it('continues from the middle of the last three samples despite an absurd one', () => {
    const { reach, heads } = guardHere();
    reach([0, 100, 0], [0, 9e15, 1], [0, 100, 2], [0, 101, 3], [0, 101, 4], [0, 102, 5], [0, 102, 6]);
    expect(heads()).toEqual([
      [0, 100, 0],
      [0, 9e15, 1],
      [0, 101, 3],
      [0, 102, 5],
    ]);
  });

  it('forgets samples after three days, each project’s by its own next sample', () => {
    const { reach, heads } = guardHere();
    const days = 3 * 24 * 60;
    reach([0, 100, 0], [OWN, 100, 0], [0, 101, 1], [0, 102, days + 1]);
    expect(heads()).toEqual([
      [OWN, 100, 0],
      [0, 101, 1],
      [0, 102, days + 1],
    ]);
  });

  it('calls a block late when two samples of the project itself were beyond it ten minutes before', () => {
    const { reach, late } = guardHere();
    reach([0, 100, 0], [OWN, 900, 0], [0, 200, 1], [OWN, 901, 1]);
    expect([late(0, 150, 60), late(OWN, 899, 60), late(OWN, 900, 60), late(8, 1, 60)]).toEqual([null, 60, null, null]);
    reach([0, 300, 2]);
    expect([late(0, 150, 11.9), late(0, 150, 12), late(0, 200, 60), late(0, 300, 60)]).toEqual([null, 11, null, null]);
  });

  it('calls a block late by the next samples after it, and by those of three days', () => {
    const { reach, late } = guardHere();
    reach([0, 100, 0], [0, 9e15, 1], [0, 300, 20], [0, 301, 21]);
    expect(late(0, 200, 60)).toBe(40);
    const days = 3 * 24 * 60;
    expect([late(0, 200, days + 19), late(0, 200, days + 20)]).toEqual([days - 1, null]);
  });
});

describe('the explorer’s information about tokens', () => {
  const entry = { token: TOKEN, cataloged: true, symbol: 'Gold', name: 'Gold', checkedAt: 1 };

  it('replaces earlier information of the explorer in every lookup', () => {
    const { keep, read } = guardHere();
    const asked = (tokenSymbol: string) => {
      const transfer = { txHash: '0x', from: null, to: null, token: TOKEN, tokenSymbol, blockNumber: null };
      const { catalog, genuine } = read([{ transfer, watchers: [] }], 0);
      return { catalog, genuine };
    };
    keep({ ...NOTHING, catalog: [entry] });
    expect(asked('gold')).toEqual({ catalog: [entry], genuine: [{ skeleton: 'GOLD', token: TOKEN }] });
    const renamed = { ...entry, symbol: 'Silver', name: 'Silver Coin', checkedAt: 2 };
    keep({ ...NOTHING, catalog: [renamed] });
    expect(asked('gold')).toEqual({ catalog: [renamed], genuine: [] });
    expect(asked('silver').genuine).toEqual([{ skeleton: 'SILVER', token: TOKEN }]);
    for (const cataloged of [false, null]) {
      keep({ ...NOTHING, catalog: [{ ...renamed, cataloged }] });
      expect(asked('silver')).toEqual({ catalog: [{ ...renamed, cataloged }], genuine: [] });
    }
    const nameless = { ...entry, symbol: null, name: null };
    keep({ ...NOTHING, catalog: [nameless] });
    expect(asked('silver')).toEqual({ catalog: [nameless], genuine: [] });
  });
});

it('updates a counterparty’s time after more than a day', () => {
  const { keep, db } = guardHere();
  const seenAt = (at: number) => {
    keep({ ...NOTHING, counterparties: [{ guildId: 'g', address: TOKEN, counterparty: TOKEN, at }] });
    return db.prepare('SELECT seen_at FROM counterparties').pluck().all();
  };
  expect([seenAt(1), seenAt(DAY + 1), seenAt(DAY + 2)]).toEqual([[1], [1], [DAY + 2]]);
});
