import { expect, it } from 'vitest';
import { toAddress } from '../../src/domain/address.ts';
import { checksumAddress, parseAddress, parseWatchable } from '../../src/domain/typed-address.ts';

const RIGHT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

it('reads an address in any spelling with a right checksum', () => {
  const copied = `\u200b${RIGHT.slice(0, 9)}\u200d${RIGHT.slice(9)}\u2069 `;
  for (const text of [RIGHT, RIGHT.toLowerCase(), ` ${RIGHT} `, `0x${RIGHT.slice(2).toUpperCase()}`, copied]) {
    expect(parseAddress(text)).toEqual({ ok: true, address: RIGHT.toLowerCase() });
  }
  expect(checksumAddress(toAddress(RIGHT)!)).toBe(RIGHT);
});

it('refuses an invalid address with the reason', () => {
  const wrong = parseAddress('0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
  expect(wrong).toEqual({ ok: false, fault: 'checksum' });
  expect(parseAddress('0x123')).toEqual({ ok: false, fault: 'form' });
});

it.each([
  `https://explorer.example/address/${RIGHT}`,
  `https://explorer.example/address/${RIGHT.toLowerCase()}/transactions?page=2`,
  `https://explorer.example/token/${RIGHT}#code`,
  `https://explorer.example/token/${RIGHT.toLowerCase()}?a=${RIGHT}`,
])('reads an address from the link %s', (link) => {
  expect(parseAddress(link)).toEqual({ ok: true, address: RIGHT.toLowerCase() });
});

it.each([
  ['form', 'name.eth'],
  ['form', RIGHT.slice(2)],
  ['form', 'abcdef1234'.repeat(4)],
  ['form', `${RIGHT} is ours`],
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
