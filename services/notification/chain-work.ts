import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import type { Nodes } from '../chain/nodes.ts';
import { profileOf } from '../chain/profiles.ts';
import { createReader } from '../chain/reader.ts';
import type { TokenFacts } from '../chain/token.ts';
import { type Backlog, createBacklog } from './backlog.ts';
import { createBlockEvents } from './block-events.ts';
import { type ChainCheck, createChainCheck } from './chain-check.ts';
import type { EventStyle } from './event.ts';
import { createForks } from './forks.ts';
import { createGaps } from './gaps.ts';
import { createReplays } from './replay.ts';
import { createScanner, type Scanner, type ScannerStatus } from './scanner.ts';
import type { NotificationStore } from './store/index.ts';
import type { KeptDelivery } from './store/new-deliveries.ts';
import { createTokens } from './tokens.ts';

/** Dependencies of {@link createChainWork}. */
export interface ChainWorkOptions {
  node: Nodes;
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  style: EventStyle;
  isServed(projectId: string): boolean;
  /** How long a new event waits before it may be sent, in milliseconds. */
  delayMs(): number;
  isStopping(): boolean;
  /** Called after new deliveries are on disk. */
  onDeliveries(deliveries: readonly KeptDelivery[]): void;
  /** Called when deliveries that waited have become due. */
  onDue(): void;
  /** Called when a token's name and decimals are known. */
  onToken(token: string, facts: TokenFacts, status: ScannerStatus): Promise<void>;
}

/** Everything that reads the chain: new blocks, and the missing parts of earlier ones. */
export interface ChainWork {
  scanner: Scanner;
  check: ChainCheck;
  backlog: Backlog;
}

/** Connects the parts that read the chain; nothing runs yet. */
export function createChainWork(options: ChainWorkOptions): ChainWork {
  const { node, store, clock, log, isStopping } = options;
  const profile = () => profileOf(store.chain.state()?.chainId ?? '');
  const reader = createReader({ node, clock, profile });
  const tokens = createTokens({ node, store, clock, log });
  const check = createChainCheck({
    node,
    clock,
    log,
    state: () => store.chain.state(),
    identify: (identity) => store.chain.identify(identity),
  });
  const forks = createForks({ node, reader, store, check, log });
  const eventsOf = createBlockEvents({ ...options, tokens, profile });
  const common = { ...options, reader, forks, eventsOf };
  const gaps = createGaps(common);
  const replays = createReplays(common);
  const scanner = createScanner({ ...common, tokens, check, onTraces: () => gaps.wake() });
  const complete = (token: string, facts: TokenFacts) => options.onToken(token, facts, scanner.status());
  const backlog = createBacklog(
    [
      { failure: 'cannot read the names of tokens: retrying', work: () => tokens.work(complete) },
      { failure: 'cannot complete earlier blocks: retrying', work: () => gaps.work() },
      { failure: 'cannot read earlier blocks for replays: retrying', work: () => replays.work() },
    ],
    { clock, log, isStopping },
  );
  return { scanner, check, backlog };
}
