import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { NodeHeader } from '../chain/node.ts';
import type { Nodes } from '../chain/nodes.ts';
import { withdrawalBody } from './event.ts';
import type { NotificationStore } from './store/index.ts';
import type { BlockTag } from './types.ts';

/** A follow-up waits until this many blocks were read past its event: the transaction may be mined again. */
const WITHDRAW_AFTER = 2;

/**
 * Releases deliveries that have their confirmations and creates the follow-ups of events whose block left the chain.
 * Returns whether there is anything new to send. A block tag that cannot be read is logged, and its deliveries wait.
 */
export async function applyFinality(
  options: { node: Nodes; store: NotificationStore; clock: Clock; log: Logger },
  height: number,
): Promise<boolean> {
  const { node, store, clock, log } = options;

  async function heightOf(tag: BlockTag): Promise<number | null> {
    if (!store.deliveries.waitsFor(tag)) return null;
    const header = await node.call<NodeHeader | null>('eth_getBlockByNumber', [tag, false]).catch((error: Error) => {
      log.warn({ err: error, tag }, 'cannot read this block tag: deliveries that wait for it stay');
      return null;
    });
    return header === null ? null : Number(header.number);
  }

  const heights = { head: height, safe: await heightOf('safe'), finalized: await heightOf('finalized') };
  const released = store.deliveries.release(heights, clock.now());
  const withdrawn = store.deliveries.withdraw(
    store.chain.state()!.nextBlock - WITHDRAW_AFTER,
    clock.now(),
    withdrawalBody,
  );
  return released.length > 0 || withdrawn > 0;
}
