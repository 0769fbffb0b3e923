import { setTimeout as wait } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { Transfer } from '../../../services/chain/transfers.ts';
import { addressIn, eventBody } from '../../../services/notification/event.ts';
import { signatureOf } from '../../../src/domain/project.ts';
import type { Luck } from '../../services/proof/operations.ts';
import type { Mined, ProofChain } from './chain.ts';

const HEADERS = { 'content-type': 'application/json' };
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Sent {
  id: string;
  place: string;
  body: string;
}

interface Round {
  url: string;
  addresses: readonly Hex[];
  first: number;
  isSigned: boolean;
  mayInvent: boolean;
}

/** A notification service that loses, repeats, delays and invents events. */
export function createService({ next }: Pick<ProofChain, 'next'>, luck: Luck, round: Round) {
  const { url, addresses, first, isSigned, mayInvent } = round;
  const waiting: Sent[] = [];
  const late: Sent[] = [];

  async function post({ id, place, body }: Sent): Promise<boolean> {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = `v1,${signatureOf(SECRET, { id, timestamp, body }).toString('base64')}`;
    const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    const named = { ...signed, 'ledgerbell-chain-id': '31337', 'ledgerbell-place': place };
    const headers = isSigned ? { ...HEADERS, ...named } : HEADERS;
    return fetch(url, { method: 'POST', headers, body }).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  async function deliver(sent: Sent): Promise<void> {
    if (!(await post(sent))) waiting.push(sent);
  }

  function eventOf(transfer: Transfer, role: 'to' | 'from', { block, blockHash }: Mined): Sent {
    const token = { name: 'Harbor Dollar', symbol: 'HUSD', decimals: transfer.kind === 'erc20' ? 6 : null };
    const source = { transfer, role, projectId: 'p', blockNumber: block, blockHash, gas: null };
    const body = eventBody(source, token, { nativeSymbol: 'HARBOR', strict: false });
    return { id: `${blockHash} ${transfer.txHash} ${transfer.place} ${role}`, place: transfer.place, body };
  }

  function invent(mined: Mined, role: 'to' | 'from'): Sent {
    const amount = next();
    const txHash: Hex = luck.next() < 0.5 ? mined.txHash : `0x${amount.toString(16).padStart(64, 'e')}`;
    const change = mined.kind === 'erc721' || mined.kind === 'erc1155' ? { tokenId: amount } : { value: amount };
    const block = luck.next() < 0.5 ? mined.block : Math.max(first, mined.block - 1 - Math.floor(luck.next() * 9));
    return eventOf({ ...mined, ...change, txHash } as Transfer, role, { ...mined, block });
  }

  return {
    /** Sends what is waiting, and events of these blocks, as far as it does not lose them. */
    async serve(mined: readonly Mined[]): Promise<void> {
      for (const sent of waiting.splice(0)) await deliver(sent);
      for (const transfer of mined) {
        for (const role of ['to', 'from'] as const) {
          if (!addresses.includes(addressIn(transfer, role).toLowerCase() as Hex)) continue;
          const sent = eventOf(transfer, role, transfer);
          const fate = luck.next();
          if (fate > 0.8) late.push(sent);
          else if (fate > 0.6) waiting.push(sent);
          else if (fate > 0.4) await deliver(sent);
          // Without signatures, what comes again within seconds is taken for another transfer, until it is compared.
          if (fate > 0.4 && fate < 0.5) await deliver(sent);
          if (fate > 0.5 && fate < 0.6) late.push(sent);
          if (mayInvent && luck.next() < 0.2) await deliver(invent(transfer, role));
        }
      }
    },
    async end(): Promise<void> {
      for (const sent of [...waiting.splice(0), ...late.splice(0)]) await deliver(sent);
      while (waiting.length > 0) {
        await wait(50);
        for (const sent of waiting.splice(0)) await deliver(sent);
      }
    },
  };
}
