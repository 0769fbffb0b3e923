import { readFileSync } from 'node:fs';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { startChecker } from '../../src/completeness/checker.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Balances, CheckProgress } from '../../src/domain/completeness.ts';
import { createChain } from '../../src/upstream/chain.ts';
import { startFakeNode } from '../services/fake-node.ts';

const MANUAL = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const ROUNDS = 64;
/** Ethereum finalizes 32 blocks of 12 s at once; a rollup's blocks settle with those. */
const EPOCH_S = 384;

async function callsADay(addresses: number, blockSeconds: number, confirmations: 'finalized' | number) {
  const clock = createManualClock();
  const began = clock.now() / 1_000;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const blockAt = (seconds: number) => 1_000 + Math.floor(seconds / blockSeconds);
  const settled = () => Math.floor((clock.now() / 1_000 - began) / EPOCH_S) * EPOCH_S;
  const node = await startFakeNode(({ method, params }) => {
    const [first] = params as [string & { data: string }];
    switch (method) {
      case 'eth_chainId':
        return { result: '0x1' };
      case 'eth_blockNumber':
        return { result: hex(blockAt(clock.now() / 1_000 - began)) };
      case 'eth_getBlockByNumber': {
        const number = first === 'finalized' ? hex(blockAt(settled())) : first;
        return { result: { number, hash: number, timestamp: hex(Math.floor(clock.now() / 1_000)) } };
      }
      case 'eth_getLogs':
        return { result: [] };
      case 'eth_call':
        return { result: `0x${'0'.repeat(first.data.length - 74)}` };
      default:
        return { status: 500 };
    }
  });
  onTestFinished(node.close);
  let state: { progress: CheckProgress; balances: Balances } | null = null;
  const watched = Array.from({ length: addresses }, (_, index) => ({
    scope: 0,
    address: `0x${(index + 1).toString(16).padStart(40, '0')}` as AddressText,
    since: 0,
  }));
  const store = {
    chainChecks: {
      watched: async () => watched,
      progress: async () => state,
      stored: async () => [],
      late: async () => ({ upTo: 0, found: [] }),
      advance: async (_: number, progress: CheckProgress, balances: Balances) => {
        state = { progress, balances };
      },
    },
  };
  const chain = createChain({ urls: [node.url], rate: 999_999_999, clock });
  const checker = startChecker({
    network: { id: 0, name: 'x', title: '', chainId: null, nativeSymbol: undefined, RPC_CONFIRMATIONS: confirmations },
    chain,
    store: store as never,
    inbox: { wake: () => undefined },
    outbox: { wake: () => undefined, rescan: async () => undefined },
    metrics: { found: { inc: () => undefined } },
    clock,
    log: pino({ level: 'silent' }),
    roundMs: 1e9,
  });
  await checker.check();
  await checker.check();
  const before = node.asked.length;
  for (let round = 0; round < ROUNDS; round++) {
    clock.advance(60_000);
    await checker.check();
  }
  await checker.close();
  expect(checker.status()).toMatchObject({ trouble: null, unchecked: [] });
  return Math.round(((node.asked.length - before) * 1_440) / ROUNDS);
}

it('makes as many calls a day as the manual says', { timeout: 60_000 }, async () => {
  const measured: string[] = [];
  for (const [seconds, confirmations] of [
    [12, 'finalized'],
    [2, 'finalized'],
    [12, 5],
    [2, 30],
  ] as const) {
    const calls = [];
    for (const addresses of [10, 100, 1_000]) calls.push(await callsADay(addresses, seconds, confirmations));
    measured.push(
      `| ${seconds} s, \`${confirmations}\` | ${calls.map((one) => one.toLocaleString('en-US')).join(' | ')} |`,
    );
  }
  for (const row of measured) expect(MANUAL).toContain(row);
});
