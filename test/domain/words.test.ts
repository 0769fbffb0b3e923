import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAddress } from '../../src/domain/address.ts';
import { inUnits, isBelow, wholeDigits } from '../../src/domain/amount.ts';
import { cutTo, inCode, isLinkable } from '../../src/domain/text.ts';
import { checksumAddress, parseAddress, parseWatchable } from '../../src/domain/typed-address.ts';

describe('amounts', () => {
  it.each([
    ['1000000000000000000', 18, '1'],
    ['109700', 2, '1097'],
    ['1234567890', 6, '1234.56789'],
    ['0', 18, '0'],
    ['1', 18, '0.000000000000000001'],
    ['1234567', null, '1234567'],
    ['1234567', 0, '1234567'],
  ])('formats the amount %s with %s decimals as %s', (value, decimals, text) => {
    expect(inUnits(value, decimals)).toBe(text);
  });

  it('never loses a digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 255 }), (value, decimals) => {
        const [whole = '', fraction = ''] = inUnits(value.toString(), decimals).split('.');
        expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(value);
      }),
    );
  });

  it.each([
    ['1.5e+21', '1500000000000000000000'],
    ['1.25E2', '125'],
    ['12e0', '12'],
    ['7.0', '7'],
    ['7.500', null],
    ['1.25e1', null],
    ['0.0', '0'],
    ['007', '7'],
    ['0.5e1', '5'],
    ['1e100', null],
    ['5e-1', null],
    ['-1', null],
    ['1,000', null],
  ])('reads %s as %s in whole digits', (source, digits) => {
    expect(wholeDigits(source)).toBe(digits);
  });

  it('compares amounts exactly', () => {
    expect(isBelow('999999', 6, '1')).toBe(true);
    expect(isBelow('1000000', 6, '1')).toBe(false);
    expect(isBelow('1', 0, '0.5')).toBe(false);
    expect(isBelow('0', 0, '0.000001')).toBe(true);
  });
});

describe('addresses', () => {
  const right = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

  it('reads an address in any spelling with a right checksum', () => {
    const copied = `\u200b${right.slice(0, 9)}\u200d${right.slice(9)}\u2069 `;
    for (const text of [right, right.toLowerCase(), ` ${right} `, `0x${right.slice(2).toUpperCase()}`, copied]) {
      expect(parseAddress(text)).toEqual({ ok: true, address: right.toLowerCase() });
    }
    expect(checksumAddress(toAddress(right)!)).toBe(right);
  });
  it('refuses an invalid address with the reason', () => {
    const wrong = parseAddress('0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
    expect(wrong).toEqual({ ok: false, fault: 'checksum' });
    expect(parseAddress('0x123')).toEqual({ ok: false, fault: 'form' });
  });
  it.each([
    `https://explorer.example/address/${right}`,
    `https://explorer.example/address/${right.toLowerCase()}/transactions?page=2`,
    `https://explorer.example/token/${right}#code`,
    `https://explorer.example/token/${right.toLowerCase()}?a=${right}`,
  ])('reads an address from the link %s', (link) => {
    expect(parseAddress(link)).toEqual({ ok: true, address: right.toLowerCase() });
  });
  it.each([
    ['form', 'name.eth'],
    ['form', right.slice(2)],
    ['form', 'abcdef1234'.repeat(4)],
    ['form', `${right} is ours`],
    ['several', `https://explorer.example/token/${right}?a=0x${'1'.repeat(40)}`],
    ['form', 'https://explorer.example/address/name.eth'],
    ['checksum', `https://explorer.example/address/${right.replace('aA', 'AA')}`],
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
});

it('cuts a text at whole characters, closes its code, and isolates right-to-left names', () => {
  expect(cutTo('12345', 5)).toBe('12345');
  expect(cutTo('123456', 5)).toBe('123…');
  expect(cutTo('5 `ABCDEF`', 8)).toBe('5 `ABC…`');
  expect(cutTo('12😀456', 5)).toBe('12…');
  expect(cutTo('5 \u2068`دولار`\u2069 · 0x12', 10)).toBe('5 \u2068`دول…`\u2069');
  expect(cutTo('5 \u2068`د`\u2069 · 0x12', 10)).toBe('5 \u2068`د`\u2069…');
});

describe('text from the chain', () => {
  it.each([
    ['USDC', '`USDC`'],
    ['**bold** [x](y)', '`**bold** [x](y)`'],
    ['a`b``c', '`aˋbˋˋc`'],
    ['line\nbreak', '`line break`'],
    ['\u202egpj.exe', '`(name hidden: looks like a link)`'],
    ['visit https://evil.example', '`(name hidden: looks like a link)`'],
    ['claim at evil.com', '`(name hidden: looks like a link)`'],
    ['ｅｖｉｌ．ｃｏｍ', '`(name hidden: looks like a link)`'],
    ['e\u200bvil.c\u200bom', '`(name hidden: looks like a link)`'],
    ['@everyone', '`(name hidden: looks like a link)`'],
    // Nothing is shown of what comes so late, and nothing looked at: there may be a megabyte of it.
    [`${'many words '.repeat(100)}https://evil.example`, '`many words many words many words…`'],
    ['\u200b\u2800', 'none'],
    ['', 'none'],
    [null, 'none'],
    ['evil\u034f.com', '`(name hidden: looks like a link)`'],
    ['evil.c\ufe0fom', '`(name hidden: looks like a link)`'],
    ['नमस्ते.भारत', '`(name hidden: looks like a link)`'],
    ['\ufe0f\u034f \u17b4', 'none'],
    ['x\u0323\u0330\u0331', '`x\u0323\u0330\u0331`'],
    [`x${'\u0330\u0331'.repeat(6)}y\u0330`, '`x\u0330\u0331\u0330y\u0330`'],
    // Nothing in between begins a new letter.
    ['x\u0330\u0331\u0330\u200b\u034f\u0331\u0330', '`x\u0330\u0331\u0330`'],
    ['นี้', '`นี้`'],
    // Isolated, so that it does not turn around what stands beside it.
    ['دولار', '\u2068`دولار`\u2069'],
    ['שקל 12', '\u2068`שקל 12`\u2069'],
    ['\u2067x\u2069دولار\u202e', '\u2068`xدولار`\u2069'],
  ])('shows the chain’s text %j as %s', (text, shown) => {
    expect(inCode(text, 'none')).toBe(shown);
  });
  it('never shows a name longer than 32 graphemes or outside its code', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const shown = inCode(text, '`none`').replace(/^\u2068(.*)\u2069$/, '$1');
        expect(shown.slice(1, -1)).not.toMatch(/[`\n\r\u202a-\u202e\u2066-\u2069\u200b]/);
        expect([...new Intl.Segmenter().segment(shown)].length).toBeLessThanOrEqual(40);
      }),
    );
  });
});

it.each([
  ['https://explorer.example/tx/1', true],
  ['http://a-b.c.xn--p1ai:4000', true],
  ['http://localhost:4000', true],
  ['http://10.0.0.1', true],
  ['http://explorer:4000', false],
  ['http://[::1]:4000', false],
  ['http://my_host.example', false],
  ['explorer.example', false],
])('decides whether Discord accepts a link to %s: %s', (url, taken) => {
  expect(isLinkable(url)).toBe(taken);
});
