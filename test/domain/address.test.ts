import { expect, it } from 'vitest';
import {
  addressList,
  chainsIn,
  checksumAddress,
  parseAddress,
  parseWatchable,
  toAddress,
} from '../../src/domain/address.ts';

const RIGHT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

it('reads an address in any spelling with a right checksum', () => {
  const copied = `\u200b${RIGHT.slice(0, 9)}\u200d${RIGHT.slice(9)}\u2069 `;
  for (const text of [RIGHT, RIGHT.toLowerCase(), ` ${RIGHT} `, `0x${RIGHT.slice(2).toUpperCase()}`, copied]) {
    expect(parseAddress(text)).toEqual({ ok: true, address: RIGHT.toLowerCase() });
  }
  expect(checksumAddress(toAddress(RIGHT)!)).toBe(RIGHT);
});

it.each([
  `https://explorer.example/address/${RIGHT}`,
  `https://explorer.example/address/${RIGHT.toLowerCase()}/transactions?page=2`,
  `https://explorer.example/token/${RIGHT}#code`,
  `https://explorer.example/token/${RIGHT.toLowerCase()}?a=${RIGHT}`,
  `${RIGHT} is ours`,
  `Treasury: ${RIGHT}`,
  `<${RIGHT}>`,
  `“\`${RIGHT}\`”,`,
  `[Treasury](https://explorer.example/address/${RIGHT})`,
  `ethereum:${RIGHT}`,
  `treasury:${RIGHT}`,
])('reads the one address in %s', (text) => {
  expect(parseAddress(text)).toEqual({ ok: true, address: RIGHT.toLowerCase() });
});

it.each([
  [1, `eth:${RIGHT}`],
  [137, `MATIC:${RIGHT.toLowerCase()}`],
  [42161, `Treasury arb1:${RIGHT}`],
  [8453, `https://app.safe.global/home?safe=base:${RIGHT}`],
  [1, `eip155:1:${RIGHT}`],
  [10, `ethereum:${RIGHT}@10`],
  [10, `ethereum:${RIGHT}@0xa`],
  [137, `eip155:137/erc20:${RIGHT}`],
  [1, `ethereum:pay-${RIGHT}@1/transfer?uint256=1`],
])('reads the chain %i from %s', (chainId, text) => {
  expect(parseAddress(text)).toEqual({ ok: true, address: RIGHT.toLowerCase(), chainId });
  expect(chainsIn(`${text}, ${text}`)).toEqual([chainId]);
  expect(chainsIn(`flr:${RIGHT} ${text}`)).toEqual([14, chainId]);
});

it.each([
  ['form', 'name.eth'],
  ['form', '0x123'],
  ['checksum', RIGHT.replace('aA', 'AA')],
  ['bare', RIGHT.slice(2)],
  ['bare', `eth:${'abcdef1234'.repeat(4)}`],
  ['several', `${RIGHT} or 0x${'1'.repeat(40)}`],
  ['several', `https://explorer.example/token/${RIGHT}?a=0x${'1'.repeat(40)}`],
  ['form', 'https://explorer.example/address/name.eth'],
  ['checksum', `https://explorer.example/address/${RIGHT.replace('aA', 'AA')}`],
  ['transaction', `0x${'1a'.repeat(32)}`],
  ['transaction', '1A'.repeat(32)],
  ['transaction', `https://explorer.example/tx/0x${'1a'.repeat(32)}`],
  ['foreign', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  ['foreign', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['foreign', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['foreign', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
])('recognizes what people mistake for an address (%s): %s', (fault, text) => {
  expect(parseAddress(text)).toEqual({ ok: false, fault });
});

it('refuses to watch an address that would match everything', () => {
  expect(parseWatchable(`0x${'0'.repeat(40)}`)).toEqual({ ok: false, fault: 'zero' });
  expect(parseWatchable('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE')).toEqual({ ok: false, fault: 'sentinel' });
});

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;
const both = (a: string | null, b: string | null) => [
  expect.objectContaining({ text: A, label: a }),
  expect.objectContaining({ text: B, label: b }),
];

it.each([
  ['lines', `Treasury: ${A}\nOps wallet ${B}`],
  ['bullets', `Our wallets:\n- **Treasury** ${A}\r\n• Ops wallet — \`${B}\``],
  ['numbers', `1. Treasury ${A}\n2) Ops wallet: eth:${B}`],
  ['links', `[Treasury](https://e.example/address/${A}) and [Ops wallet](https://e.example/address/${B})`],
  ['columns', `Treasury\t${A}\nOps wallet\t${B}`],
  ['lists of links', `https://e.example/address/${A}?a=1#txs, Treasury\nhttps://e.example/address/${B}/txs Ops wallet`],
  ['a table', `| Treasury | ${A} |\n| Ops wallet | ${B} |`],
  ['quotes', `‘Treasury’: ‘${A}’\nOps wallet «${B}»`],
  ['names behind', `${A} Treasury\n${B}, Ops wallet`],
  ['names behind a link', `https://e.example/address/${A} Treasury\nhttps://e.example/address/${B} Ops wallet`],
])('reads names from %s', (_, text) => {
  expect(addressList(text)).toEqual(both('Treasury', 'Ops wallet'));
});

it('reads a list whose line breaks are gone', () => {
  expect(addressList(`Treasury ${A} Ops wallet ${B}`, true)).toEqual(both('Treasury', 'Ops wallet'));
  expect(addressList(`${A}, Treasury; ${B}, Ops wallet`, true)).toEqual(both('Treasury', 'Ops wallet'));
  expect(addressList(`${A} ${B}`, true)).toEqual(both(null, null));
});

it.each([
  [`https://explorer.example/address/${A}#tokentxns`],
  [`https://explorer.example/token/${A}?a=${A}&p=2`],
  [`ethereum:${A}@10/transfer?uint256=1`],
  [`${A}@eip155:10`],
])('takes no part of a link for a name: %s', (link) => {
  expect(addressList(link, true)).toEqual([{ text: A, label: null, chainId: link.startsWith('ethereum') ? 10 : null }]);
});

it('reads the names of a list with endless blanks and signs without blocking', () => {
  for (const one of [' ', '-', '* ', 'https://']) {
    const endless = one.repeat(100_000 / one.length);
    expect(addressList(`${endless}x ${A} x${endless}x ${B} x${endless}x`, true)).toHaveLength(2);
  }
});

it('takes no word of a sentence for a name', () => {
  expect(addressList(`Please pay ${A} and (${B}), not ${A}`)).toEqual(both(null, null));
  expect(addressList(`Send it to ${A} please`)).toEqual([{ text: A, label: null, chainId: null }]);
});
