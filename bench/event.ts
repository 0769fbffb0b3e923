const BASE = {
  to: '0x1ea1f375b5da185eb51edcbed23f3d401f8368ce',
  from: '0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b',
  txHash: '0x9d5156039280cfd5fd828293d0351fda88e6f5078db095c63db164c8af7c4f50',
  tokenAddress: '0x5df217d84e67a4aac9d130fc7afed5a94e873f0d',
  blockNumber: 18226326,
  blockHash: '0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3',
  tokenType: 'ERC-20',
  tokenName: 'GoodDollar',
  tokenSymbol: 'G$',
  tokenDecimals: '2',
  value: '109700',
  projectId: '62caedf9e2719e72815d0703',
  direction: 'incoming',
};

export const addressOf = (n: number): string => `0xa${(n + 1).toString(16).padStart(39, '0')}`;

/** In no order, like the digits of real hashes. */
const scattered = (n: number): string => (Math.imul(n + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');

export const strangerOf = (n: number): string => `0xb${scattered(n)}${n.toString(16).padStart(31, '0')}`;

export const hashOf = (n: number): string => `0x${scattered(n)}${n.toString(16).padStart(56, 'b')}`;

export const transferOf = (n: number, to: string, from = BASE.from) => ({
  ...BASE,
  to,
  from,
  txHash: hashOf(n),
  value: String(1_000_000 + n),
});

/** 900 bytes. */
export const bodyOf = (n: number, to: string, from?: string): string =>
  JSON.stringify(transferOf(n, to, from)).padEnd(900, ' ');

export const hashesIn = (message: string): Set<string> => new Set(message.match(/0x[0-9a-f]{64}/g));
