import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/domain/event.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { events } from '../fuzz/bodies.ts';

const A = '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE';
const B = '0xcc95E80DA76bd41507b99d9b977Dc3062bcf6430';
const TOKEN = '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D';
const HASH = `0x${'ab'.repeat(32)}`;
const bare = { from: B, to: A, txHash: HASH };
const token = { ...bare, tokenAddress: TOKEN };
const dollars = { ...token, tokenType: 'ERC-20', tokenDecimals: 6, value: '5' };

const parse = (body: string | object) => parseEvent(typeof body === 'string' ? body : JSON.stringify(body));

function read(body: string | object): TransferEvent {
  const parsed = parse(body);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.event;
}

describe('the published samples', () => {
  it('reads a native payment by its value, not by its wrong valueEth', () => {
    const { transfer, direction, projectId } = read(
      `{"to":"${A}","from":"${B}","value":"1000000000000000000","valueEth":"0.1","txHash":"${HASH}","blockNumber":18196049,"blockHash":"0x1160be538508f63e3917b61f7af84db8907f66290d568340050f97e16008cc0b","tokenType":"FUSE","tokenAddress":"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE","projectId":"62ce87c8131bbffe0f83af65","direction":"outgoing","gasFee":"1310144000000000","txnValue":"0"}`,
    );
    expect(transfer).toMatchObject({
      kind: 'native',
      value: '1000000000000000000',
      decimals: 18,
      token: null,
      tokenType: 'FUSE',
      blockNumber: 18196049,
      gasFee: '1310144000000000',
      internal: false,
    });
    expect(direction).toBe('outgoing');
    expect(projectId).toBe('62ce87c8131bbffe0f83af65');
  });

  it('reads an ERC-20 transfer', () => {
    const words = { tokenName: 'GoodDollar', tokenSymbol: 'G$', tokenDecimals: '2' };
    const { transfer } = read({ ...dollars, ...words, value: '109700', direction: 'incoming' });
    expect(transfer).toMatchObject({ kind: 'erc20', value: '109700', decimals: 2, tokenSymbol: 'G$' });
    expect(transfer.token).toBe(TOKEN.toLowerCase());
  });
});

describe('deviations of live services', () => {
  const nft = `"from":"${B}","to":"${A}","txHash":"${HASH}","tokenAddress":"${TOKEN}","tokenType":"ERC-721"`;

  it('reads the zero address in place of a token as the native coin, whatever its brand', () => {
    const payment = { ...bare, value: '1', tokenType: 'FUSE' };
    const { transfer } = read({ ...payment, tokenAddress: `0x${'0'.repeat(40)}` });
    expect(transfer).toEqual(read({ ...payment, tokenAddress: null }).transfer);
    expect(transfer).toMatchObject({ kind: 'native', token: null, decimals: 18 });
  });

  it('keeps every digit of a bare integer beyond 2^53', () => {
    const id = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
    expect(read(`{${nft},"tokenId":${id}}`).transfer).toMatchObject({ tokenId: id, tokenIdExact: true });
  });

  it('marks a rounded token ID as imprecise and keeps it as printed', () => {
    for (const id of ['5.78960446186581e+76', '"5.78960446186581e+76"']) {
      const { transfer } = read(`{${nft},"tokenId":${id}}`);
      expect(transfer).toMatchObject({ tokenId: '5.78960446186581e+76', tokenIdExact: false });
    }
  });

  it('reads every number in its source form, however plain the others are', () => {
    for (const id of ['12', '9007199254740993', '7.0', '5e3', '-0']) {
      const { transfer } = read(`{${nft},"blockNumber":5,"tokenId" :\n${id}}`);
      expect(transfer).toMatchObject({ tokenId: id, tokenIdExact: /^\d+$/.test(id), blockNumber: 5 });
    }
  });

  it('accepts null for unused fields, and 0 for a value', () => {
    const unused = '"value":null,"valueEth":null,"tokenDecimals":null,"direction":null,"tokenName":null';
    const { transfer, direction } = read(`{${nft},"tokenId":0,${unused}}`);
    expect(transfer).toMatchObject({ kind: 'erc721', tokenId: '0', value: null, decimals: null, tokenName: null });
    expect(direction).toBeNull();
    expect(read({ ...dollars, value: 0 }).transfer.value).toBe('0');
  });

  it.each([
    ['native', { ...token, tokenType: 'Native', value: '1' }],
    ['native', { ...bare, value: '1' }],
    ['unknown', { ...bare, tokenId: '1' }],
    ['unknown', { ...token, tokenType: 'ERC-404', tokenId: 1 }],
    ['erc20', { ...token, tokenType: 'erc20', tokenId: 1 }],
    ['erc20', { ...token, value: '1', tokenDecimals: 6 }],
    ['unknown', { ...token, value: '1' }],
    ['unknown', { ...token, tokenDecimals: 6 }],
    ['erc721', { ...token, tokenId: '1' }],
    ['erc1155', { ...token, tokenId: '1', value: '2' }],
    ['erc1155', { ...token, tokenType: 'ERC-1155', tokenId: 1 }],
    ['erc1155', { ...token, tokenType: 'ERC1155', tokenId: 1 }],
  ])('finds out that a transfer is %s, with or without a type (%#)', (kind, body) => {
    expect(read(body).transfer.kind).toBe(kind);
  });

  const most = '9'.repeat(78);
  it.each([
    ['value', '007', { value: '7' }],
    ['value', ' 7 ', { value: '7' }],
    ['value', '0', { value: '0' }],
    ['value', most, { value: most }],
    ['value', `0x${'f'.repeat(64)}`, { value: String(2n ** 256n - 1n) }],
    ['value', `${most}9`, { value: null }],
    ['value', `${' '.repeat(400)}7`, { value: null }],
    ['value', '0x1g', { value: null }],
    ['value', 'a0x1', { value: null }],
    ['tokenDecimals', 6, { decimals: 6 }],
    ['tokenDecimals', '255', { decimals: 255 }],
    ['tokenDecimals', '256', { decimals: null }],
    ['tokenId', '0x10', { tokenId: '16', tokenIdExact: true }],
    ['tokenId', 'x'.repeat(90), { tokenId: 'x'.repeat(80), tokenIdExact: false }],
    ['tokenName', ' ', { tokenName: null }],
    ['blockHash', '0xAB', { blockHash: '0xab' }],
    ['isInternalTransaction', true, { internal: true }],
    ['isInternalTransaction', 'true', { internal: true }],
    ['isInternalTransaction', 'false', { internal: false }],
    ['direction', 'Incoming', { direction: 'incoming' }],
    ['direction', 'outgoing', { direction: 'outgoing' }],
    ['direction', 'sideways', { direction: null }],
    ['addressType', 'Wallet', { addressType: 'wallet' }],
    ['addressType', 'Wallet-Address', { addressType: 'wallet' }],
    ['addressType', 'Token-Address', { addressType: 'token' }],
    ['addressType', 'Something', { addressType: null }],
  ])('reads the %s %j', (name, value, expected) => {
    const { transfer, ...event } = read({ ...token, tokenType: 'ERC-20', [name]: value });
    expect({ ...transfer, ...event }).toMatchObject(expected);
  });

  it('reads a body that begins with a byte order mark', () => {
    expect(read(`\ufeff${JSON.stringify(bare)}`)).toEqual(read(bare));
  });

  it('reads an ERC-721 with several pieces as an ERC-1155, because some senders mix them up', () => {
    expect(read(`{${nft},"tokenId":7,"value":"5"}`).transfer).toMatchObject({ kind: 'erc1155', value: '5' });
    // One piece is the same in both. Some senders repeat the ID as the value, and one of the two may be rounded.
    const rounded = `5.78960446186581e+76,"value":"57896044618658100000000000000000000000000000000000000000000000000000000000123"`;
    const single = ['7,"value":"0"', '7,"value":"1"', '7,"value":null', '7,"value":"7"', '5e76,"value":5e76'];
    for (const rest of [...single, rounded]) expect(read(`{${nft},"tokenId":${rest}}`).transfer.kind).toBe('erc721');
    expect(read(`{${nft},"value":"5"}`).transfer.kind).toBe('erc721');
  });
});

describe('unreadable deliveries', () => {
  it.each([
    '',
    'hello',
    '[]',
    'null',
    '42',
    '{"txHash":',
    `{"txHash":"${HASH}"}`,
    `{"from":"${A}","to":"${B}"}`,
    `{"from":"${A}","to":"${B}","txHash":"${HASH}!"}`,
    `{"from":"${A}","to":"${B}","txHash":"!${HASH}"}`,
    `{"from":"somebody","to":null,"txHash":"${HASH}","value":"1","tokenAddress":"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"}`,
  ])('returns a reason why the body %j is no event', (body) => {
    const parsed = parse(body);
    expect(parsed).toEqual({ ok: false, reason: expect.stringMatching(/\w+ .*\.$/) });
  });

  it('parses any fields without throwing, and returns amounts as digits only', () => {
    fc.assert(
      fc.property(events, (fields) => {
        const parsed = parse(fields);
        const value = parsed.ok ? parsed.event.transfer.value : null;
        expect(value ?? '0').toMatch(/^\d{1,78}$/);
      }),
    );
  });
});

describe('a body that is not JSON', () => {
  const asText = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
  it.each([
    ['nothing', '', 'it is empty'],
    ['gzip', asText(gzipSync('{"txHash":"0x1"}')), 'it is compressed (gzip); the sender must post it as it is'],
    ...[1, 3, 6, 9].map((level) => [
      `deflate at level ${level}`,
      asText(deflateSync('{"txHash":"0x1"}', { level })),
      'it is compressed (deflate); the sender must post it as it is',
    ]),
    ['UTF-16', asText(Buffer.from('{"txHash":"0x1"}', 'utf16le')), 'it is UTF-16; the sender must post UTF-8'],
    ['UTF-16 the other way round', '\0{\0}', 'it is UTF-16; the sender must post UTF-8'],
    ['UTF-16 with its mark', asText(Buffer.from('\ufeff{}', 'utf16le')), 'it is UTF-16; the sender must post UTF-8'],
    ['a form', 'txHash=0x1&value=1', 'it is a form (name=value); the sender must post JSON'],
    ['a page', ' <html></html>', 'it is HTML or XML'],
  ])('recognizes a body that is %s', (_, body, likeness) => {
    expect(parse(body)).toEqual({ ok: false, reason: `The body is not JSON: ${likeness}.` });
  });

  it('makes no guess about a body that it does not recognize, nor of JSON that is no object', () => {
    expect(parse('{"txHash":')).toEqual({ ok: false, reason: 'The body is not JSON.' });
    for (const body of ['null', '[{"txHash":-1}]', '1.5', '"text"'])
      expect(parse(body)).toEqual({ ok: false, reason: 'The body is not a single JSON object.' });
  });
});

describe('a large body', () => {
  const event = {
    txHash: `0x${'a'.repeat(64)}`,
    from: `0x${'1'.repeat(40)}`,
    to: `0x${'2'.repeat(40)}`,
    tokenType: 'ERC-20',
    tokenAddress: `0x${'3'.repeat(40)}`,
    tokenName: 'A "quoted" \\ \u2603 name',
    tokenDecimals: '18',
    projectId: null,
  };
  const body = (extra: string, value = '123456789012345678901234567890') =>
    `${JSON.stringify(event).slice(0, -1)}, "value" : ${value} , ${extra}}`;
  const small = parseEvent(body('"x":0'));
  const padding = [
    `"x":"${'y'.repeat(50_000)}\\\\\\""`,
    `"x":"${'\\u0041\\"'.repeat(80_000)}"`,
    `"${'x'.repeat(900_000)}":"y"`,
    `"x":[${'{"txHash":-1e5},'.repeat(1_500)}[]]`,
    Array.from({ length: 1_500 }, (_, n) => `"k${n}": 1.5`).join(',\n'),
    `"x":${'['.repeat(1_000)}${']'.repeat(1_000)}`,
    `"\\u0078":{"a":"}]"},"y":"${'z'.repeat(20_000)}"`,
  ];

  it.each(padding)('reads a large body as losslessly as a small one, whatever else it contains (%#)', (extra) => {
    expect(small).toMatchObject({ ok: true, event: { transfer: { value: '123456789012345678901234567890' } } });
    expect(parseEvent(body(extra))).toEqual(small);
  });

  it('uses the last of two fields with one name in a large body, as JSON.parse does', () => {
    const last = parseEvent(body(`"x":"${'y'.repeat(70_000)}","val\\u0075e":7`));
    expect(last).toMatchObject({ ok: true, event: { transfer: { value: '7' } } });
  });

  it('quarantines a large body that is not JSON, wherever it breaks off', () => {
    const whole = body(`"x":"${'y'.repeat(70_000)}"`);
    const open = whole.slice(0, -1);
    for (const text of [open, whole.slice(0, -3), `${whole}x`, whole.replace(' : ', ' '), `${open},}`])
      expect(parseEvent(text)).toMatchObject({ ok: false, reason: expect.stringContaining('The body is not JSON') });
  });

  it.each([
    ['a list', `[${'1.5,'.repeat(200_000)}0]`],
    ['nested lists', `{"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['keys', `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":0`).join()}}`],
    ['short texts', `{"x":[${'"ab",'.repeat(200_000)}""]}`],
    ['one number', `{"value":${'9'.repeat(1_000_000)}}`],
  ])('quarantines a large body of %s without parsing it', (_name, text) => {
    const reason = 'The body is no event: it has more than 32 KiB besides long texts.';
    expect(parseEvent(text)).toEqual({ ok: false, reason });
  });

  it('reads a large body of fuzzed JSON exactly as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (extra) => {
        const text = JSON.stringify({ filler: 'y'.repeat(70_000), ...extra, ...event, value: '5' });
        const usual = JSON.stringify({ ...extra, ...event, value: '5' });
        expect(parseEvent(text)).toEqual(parseEvent(usual));
      }),
    );
  });
});

describe('texts that a stranger writes', () => {
  const long = fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }), fc.nat(900_000));
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2_000 }),
    long.map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length))),
  );

  it('gives the same transfer whatever a text says, and however long it is', () => {
    const { transfer: plain } = read(dollars);
    fc.assert(
      fc.property(fc.constantFrom('tokenName', 'tokenSymbol', 'unknown'), anyText, (name, text) => {
        const { tokenName, tokenSymbol, ...transfer } = read({ [name]: text, ...dollars }).transfer;
        expect({ ...transfer, tokenName: null, tokenSymbol: null }).toEqual(plain);
        const shown = name === 'tokenName' ? tokenName : name === 'tokenSymbol' ? tokenSymbol : null;
        expect(shown ?? '').toBe(name === 'unknown' ? '' : text.slice(0, 1_000).trim().slice(0, 300));
      }),
      { numRuns: 100 },
    );
  });
});
