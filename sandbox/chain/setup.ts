import { formatUnits, parseUnits } from 'viem';
import type { Anvil, Call } from './anvil.ts';
import { type ContractName, callData, deployData } from './contracts.ts';
import {
  type Address,
  type Chain,
  type Erc721Name,
  type Party,
  type Token,
  type TokenName,
  WALLET_NAMES,
  type WalletName,
} from './types.ts';

export interface World extends Pick<Chain, 'wallets' | 'tokens' | 'contracts'> {
  deployer: Address;
  nfts: { token: Erc721Name; owner: Address; ids: bigint[] }[];
}

export const SUPPLY_IDS = [1n, 2n, 3n] as const;

/** Far above 2^53. */
export function nameId(number: number): bigint {
  return (
    57_896_044_618_658_097_711_785_492_504_343_953_926_634_992_332_820_282_019_728_792_003_956_564_819_967n +
    BigInt(number)
  );
}

const NFT_COUNT = { keys: 12, names: 3 } as const;

const DESCRIPTIONS: Record<TokenName, Omit<Token, 'address'> & { contract: ContractName }> = {
  dollar: { contract: 'Coin', type: 'ERC-20', name: 'Harbor Dollar', symbol: 'HUSD', decimals: 6 },
  bell: { contract: 'Coin', type: 'ERC-20', name: 'Bell', symbol: 'BELL', decimals: 18 },
  hostile: {
    contract: 'Coin',
    type: 'ERC-20',
    name: '**Claim 5,000 HUSD** [here](https://claim.example/now) @everyone \u202Egnp.exe',
    symbol: '`||<@&1>\u200B [HUSD](http://evil.example)\n# FREE',
    decimals: 18,
  },
  fake: { contract: 'Coin', type: 'ERC-20', name: 'Harbor Dollar', symbol: 'HUSD', decimals: 6 },
  keys: { contract: 'Collectible', type: 'ERC-721', name: 'Harbor Keys', symbol: 'HKEY', decimals: 0 },
  names: { contract: 'Collectible', type: 'ERC-721', name: 'Harbor Names', symbol: 'HNAME', decimals: 0 },
  supplies: { contract: 'Supplies', type: 'ERC-1155', name: 'Harbor Supplies', symbol: 'HSUP', decimals: 0 },
};

export function nameOf({ wallets }: Pick<World, 'wallets'>, party: Party): string {
  if (!party.startsWith('0x')) return party;
  const wallet = Object.entries(wallets).find(([, address]) => address.toLowerCase() === party.toLowerCase());
  return wallet?.[0] ?? `${party.slice(0, 6)}…${party.slice(-4)}`;
}

export function shortId(id: bigint): string {
  const text = id.toString();
  return text.length > 12 ? `${text.slice(0, 4)}…${text.slice(-4)}` : text;
}

/** Of an ERC-20, or of the items with these ids: `12.5 HUSD`, `3 × HSUP #1`. The hostile token is not named. */
export function amountOf(
  { tokens }: Pick<World, 'tokens'>,
  token: TokenName,
  amount: bigint,
  ids: readonly bigint[] = [],
): string {
  const { symbol, decimals } = tokens[token];
  const listed = ids.map((id) => `#${shortId(id)}`).join(', ');
  if (token === 'keys' || token === 'names') return `${symbol} ${listed}`;
  if (token === 'supplies') return `${amount} × ${symbol} ${listed}`;
  const called = token === 'hostile' ? 'of a hostile token' : token === 'fake' ? `of a fake ${symbol}` : symbol;
  return `${formatUnits(amount, decimals)} ${called}`;
}

export function contractOf(token: TokenName): ContractName {
  return DESCRIPTIONS[token].contract;
}

export function tokenCall(
  { tokens }: Pick<World, 'tokens'>,
  from: Address,
  token: TokenName,
  functionName: string,
  args: readonly unknown[],
): Call {
  return { from, to: tokens[token].address, data: callData(contractOf(token), functionName, args) };
}

export async function setUp(anvil: Anvil): Promise<World> {
  const deployer = anvil.accounts[0]!;
  const others = anvil.accounts.slice(1);
  const wallets = Object.fromEntries(WALLET_NAMES.map((name, index) => [name, others[index]!])) as Record<
    WalletName,
    Address
  >;

  async function deploy(data: readonly Call['data'][]) {
    const receipts = await anvil.send(data.map((bytes) => ({ from: deployer, data: bytes! })));
    return receipts.map(({ created }) => created!);
  }

  const [splitter, swap, mover] = (await deploy([
    deployData('Splitter', []),
    deployData('Swap', []),
    deployData('Mover', []),
  ])) as [Address, Address, Address];
  const names = Object.keys(DESCRIPTIONS) as TokenName[];
  const addresses = await deploy(names.map((name) => deployToken(name, [swap, mover])));
  const tokens = Object.fromEntries(
    names.map((name, index) => {
      const { contract: _, ...token } = DESCRIPTIONS[name];
      return [name, { ...token, address: addresses[index]! }];
    }),
  ) as Record<TokenName, Token>;

  const nfts = WALLET_NAMES.flatMap((wallet, index) =>
    (['keys', 'names'] as const).map((token) => ({ token, owner: wallets[wallet], ids: firstIds(token, index) })),
  );
  const world: World = { deployer, wallets, tokens, contracts: { splitter, swap, mover }, nfts };
  await anvil.send(firstMints(world));
  return world;
}

function deployToken(name: TokenName, trusted: Address[]): Call['data'] {
  const token = DESCRIPTIONS[name];
  const args: unknown[] = [token.name, token.symbol];
  if (token.contract === 'Coin') args.push(token.decimals);
  if (token.contract !== 'Supplies') args.push(trusted);
  return deployData(token.contract, args);
}

function firstIds(token: Erc721Name, wallet: number): bigint[] {
  return Array.from({ length: NFT_COUNT[token] }, (_, index) => {
    const number = wallet * NFT_COUNT[token] + index + 1;
    return token === 'keys' ? BigInt(number) : nameId(number);
  });
}

function firstMints(world: World): Call[] {
  const { deployer, wallets, tokens, contracts, nfts } = world;
  const mint = (token: TokenName, functionName: string, args: unknown[]): Call =>
    tokenCall(world, deployer, token, functionName, args);
  const coins = (['dollar', 'bell', 'hostile', 'fake'] as const).flatMap((token) =>
    [...Object.values(wallets), contracts.swap].map((owner) =>
      mint(token, 'mint', [owner, parseUnits('1000000', tokens[token].decimals)]),
    ),
  );
  const supplies = Object.values(wallets).flatMap((owner) =>
    SUPPLY_IDS.map((id) => mint('supplies', 'mint', [owner, id, 1_000_000n])),
  );
  return [...coins, ...supplies, ...nfts.map(({ token, owner, ids }) => mint(token, 'mintMany', [owner, ids]))];
}
