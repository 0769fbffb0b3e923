import { type Chain, WALLET_NAMES, type WalletName } from './types.ts';

/** Once every kind has been sent, the pause is this many times longer. */
const SLOWDOWN = 15;

/**
 * Sends everyday transfers into and out of Treasury, sometimes a burst. Once it has sent every kind, it slows down,
 * because a channel with more than 60 alerts in ten minutes gets digests.
 *
 * @param options.random a number in [0, 1).
 * @param options.onError an action failed. The next one follows anyway.
 * @returns a function that stops it and resolves when the last action is mined.
 */
export function startTraffic(
  chain: Chain,
  options: { everyMs: number; random?: () => number; onError?: (error: unknown) => void },
): () => Promise<void> {
  const { everyMs, random = Math.random, onError } = options;
  const others = WALLET_NAMES.filter((name) => name !== 'Treasury');
  let running: Promise<unknown> = Promise.resolve();
  let turn = 0;
  let timer: NodeJS.Timeout;
  let stopped = false;

  async function step() {
    const other = others[Math.floor(random() * others.length)]!;
    const action = actions[turn] ?? actions[Math.floor(random() * actions.length)]!;
    turn++;
    running = action(chain, other).catch((error: unknown) => onError?.(error));
    await running;
    if (!stopped) timer = setTimeout(() => void step(), turn < actions.length ? everyMs : everyMs * SLOWDOWN);
  }

  void step();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

const actions: readonly ((chain: Chain, other: WalletName) => Promise<unknown>)[] = [
  (chain, other) => chain.transfer({ kind: 'erc20', token: 'dollar', from: other, to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'native', from: other, to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'internal', from: other, to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'erc721', from: other, to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'erc1155', from: other, to: 'Treasury' }),
  (chain) => chain.transfer({ kind: 'erc20', token: 'bell', from: 'Treasury', to: 'Grants' }),
  (chain) => chain.transfer({ kind: 'native', from: 'Treasury', to: 'Payroll' }),
  (chain) => chain.burst(12),
  (chain, other) => chain.transfer({ kind: 'erc721', token: 'names', from: other, to: 'Treasury' }),
  (chain) => chain.swap('Treasury'),
  (chain) => chain.transfer({ kind: 'erc1155', from: 'Treasury', to: 'Market', batch: true }),
  (chain) => chain.transfer({ kind: 'erc721', from: 'Treasury', to: 'Market' }),
  (chain, other) => chain.identicalTransfers({ from: other, to: 'Treasury' }),
  (chain) => chain.lookalike({ like: 'Payroll', to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'erc20', token: 'hostile', from: other, to: 'Treasury' }),
  (chain, other) => chain.transfer({ kind: 'erc20', token: 'fake', from: other, to: 'Treasury' }),
  (chain) => chain.mint({ to: 'Treasury' }),
  (chain) => chain.burn({ from: 'Treasury' }),
  (chain) => chain.sweep({ from: 'Market', to: 'Treasury', count: 3 }),
];
