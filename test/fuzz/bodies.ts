import fc from 'fast-check';
import { NAUGHTY } from './naughty.ts';

const ADDRESSES = [
  '0x1111111111111111111111111111111111111111',
  '0x2222222222222222222222222222222222222222',
  '0x3333333333333333333333333333333333333333',
  '0x0000000000000000000000000000000000000000',
  '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  '0x1',
  'not an address',
];
const NUMBERS = [
  '0',
  '1',
  '00012',
  '1e21',
  '1.5e+21',
  '0x10',
  '-1',
  '1e999',
  '9'.repeat(78),
  '9'.repeat(79),
  '9'.repeat(5_000),
];

/** Values that no field should have, but any field may get. */
const odd = fc.oneof(
  fc.constantFrom(...NAUGHTY),
  fc.constantFrom(null, true, false, 0, -1, 1e308, 2 ** 53, [], {}, [[]], { toString: 1 }),
  fc.constantFrom(...NUMBERS),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
);
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd });

export const events = fc.record(
  {
    from: mostly(fc.constantFrom(...ADDRESSES)),
    to: mostly(fc.constantFrom(...ADDRESSES)),
    txHash: mostly(fc.stringMatching(/^0x[0-9a-f]{64}$/)),
    tokenAddress: mostly(fc.constantFrom(...ADDRESSES, null)),
    tokenType: mostly(fc.constantFrom('ERC-20', 'ERC-721', 'ERC-1155', 'NATIVE', 'Coin')),
    tokenName: odd,
    tokenSymbol: odd,
    tokenDecimals: mostly(fc.constantFrom('0', '6', '18', '255', '256', 8)),
    tokenId: mostly(fc.constantFrom(null, ...NUMBERS)),
    value: mostly(fc.oneof(fc.constantFrom(...NUMBERS), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String))),
    blockNumber: mostly(fc.nat()),
    blockHash: mostly(fc.stringMatching(/^0x[0-9a-f]{64}$/)),
    gasFee: mostly(fc.constantFrom(...NUMBERS)),
    direction: mostly(fc.constantFrom('incoming', 'outgoing', 'Incoming', null)),
    addressType: mostly(fc.constantFrom('Wallet', 'Token', null)),
    isInternalTransaction: mostly(fc.boolean()),
    projectId: odd,
  },
  { requiredKeys: [] },
);

export const bodies = fc.oneof(
  events.map((event) => Buffer.from(JSON.stringify(event))),
  fc.json().map((text) => Buffer.from(text)),
  fc.constantFrom(...NAUGHTY).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '{"a":1,"a":2}',
      '{"txHash":"0x1","from":"0x1111111111111111111111111111111111111111","value":1e400}',
      '{"__proto__":{"x":1},"constructor":{"prototype":{}}}',
      '\ufeff{}',
      "{'a':1}",
      '{"a":NaN}',
      '[1,]',
      '"\\ud800"',
      '-',
      '1',
      `${'['.repeat(50_000)}`,
      `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
      `{"value":${'9'.repeat(100_000)}}`,
      `{"txHash":"${'a'.repeat(900_000)}"}`,
    )
    .map((text) => Buffer.from(text)),
);
