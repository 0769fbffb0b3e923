import { seed } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { isOperatorScope, networkOfOperator } from '../../src/domain/inbox.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import type { Store } from '../../src/store/store.ts';
import { decision, newAlert, routed, send, storedTransfer } from '../store/contract/given.ts';

export const PAYER = '0x00000000000000000000000000000000000000aa';

interface Seen extends Partial<Transfer> {
  /** How many milliseconds ago it was seen; a minute by default. */
  ago?: number;
  /** The project that it came through; 0: the operator's. */
  scope?: number;
  guilds?: string[];
  /** The channel for which it was decided about; #alerts by default. */
  channelId?: string;
}

let serial = 0;

function nextTransfer(given: Partial<Transfer>, scope: number, seenAt: number) {
  const n = 0xfeed_0000 + ++serial;
  const txHash = `0x${n.toString(16).padStart(64, '0')}`;
  const network = isOperatorScope(scope) ? networkOfOperator(scope) : 0;
  return { n, stored: storedTransfer(n, { scope, network, seenAt, transfer: { ...PAYMENT, txHash, ...given } }) };
}

export async function storeTransfers({ routing }: Store, now: number, transfers: Seen[]): Promise<void> {
  const made = transfers.map(
    ({ ago = 60_000, scope = 0, guilds = [seed.harbor.id], channelId = seed.harbor.alerts, ...given }) => {
      const { n, stored } = nextTransfer(given, scope, now - ago);
      const place = { channelId, subscription: 0, address: PAYER, at: now - ago } as const;
      return { stored, decisions: guilds.map((guildId) => decision(n, { ...place, guildId })) };
    },
  );
  await routing.commit(
    routed({ now, transfers: made.map((one) => one.stored), decisions: made.flatMap((one) => one.decisions) }),
  );
}

export async function storeToken(
  { routing }: Store,
  token: string,
  symbol: string,
  cataloged: boolean,
  network = 0,
): Promise<void> {
  const entry = {
    network,
    token: token.toLowerCase() as AddressText,
    cataloged,
    symbol,
    name: symbol,
    checkedAt: 0,
  };
  await routing.commit(routed({ learned: { catalog: [entry], counterparties: [], nativeSymbols: [], heads: [] } }));
}

/** Posts an alert in each of these channels, and then records that Discord refuses messages there. */
export async function blockChannels(
  store: Store,
  guildId: string,
  states: Record<string, 'parked' | 'unreachable'>,
  since: number | null = null,
): Promise<void> {
  for (const [channelId, state] of Object.entries(states)) {
    const { n, stored } = nextTransfer({}, 0, 1);
    await store.routing.commit(
      routed({ now: 1, transfers: [stored], alerts: [newAlert(n, { guildId, channelId, matches: [] })] }),
    );
    await send(store, { channelId }, 1);
    await store.channels.setState({ channelId, state, dueAt: 0, attempts: 0, since, reason: null });
  }
}

const PAYMENT: Partial<Transfer> = {
  kind: 'native',
  from: PAYER,
  to: PAYER,
  token: null,
  value: '5000000000000000000',
  tokenId: null,
  tokenType: 'ETH',
  tokenName: null,
  tokenSymbol: null,
  decimals: 18,
  blockNumber: 1,
  blockHash: null,
};
