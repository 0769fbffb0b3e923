import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import type { Webhook } from '../../services/notification/store/webhooks.ts';
import type { DeliveryProgress, Project } from '../../services/notification/types.ts';
import { type ServicesOptions, startServices } from '../../services/start.ts';
import { temporaryFolder } from '../folder.ts';
import { inTime } from '../until.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export const HARBOR: Project = { id: 'harbor', key: 'harbor-key', secret: 'harbor-secret' };
export const OTHER: Project = { id: 'other', key: 'other-key', secret: 'other-secret' };

/** Gives the tests of the file, or of the `describe` that calls it, a chain, and each of them a receiver and a folder. */
export function surroundings() {
  // `chain` is one for all tests; the others are new for each.
  const here = {} as { chain: Chain; receiver: Receiver; dir: string };
  beforeAll(async () => {
    here.chain = await startChain();
  });
  afterAll(() => here.chain.close());
  beforeEach(async () => {
    here.dir = temporaryFolder();
    here.receiver = await startReceiver();
  });
  afterEach(() => here.receiver.close());
  return here;
}

interface Ready {
  status: number;
  problems: string[];
  next: number;
  head: number;
  gaps: { part: string }[];
  quarantined: number;
  pausedReceivers: number;
  nodes: { excluded: string | null }[];
}

/**
 * As {@link surroundings}, with services that read the chain through a node which tests may limit. Their webhook
 * `webhookId` watches Treasury, unless `watches` is false.
 */
export function limitedSurroundings({
  watches = true,
  ...given
}: { watches?: boolean } & Partial<ServicesOptions> = {}) {
  const here = surroundings() as ReturnType<typeof surroundings> & {
    node: LimitedNode;
    services: Harness;
    webhookId: string;
  };
  let stack: AsyncDisposableStack;
  const watch = (settings?: WatchSettings) =>
    here.services.watch(here.receiver.url, [here.chain.wallets.Treasury], settings);
  const scan = () => here.services.notification.scan();
  /** The bodies that have arrived, once nothing is left to send. */
  const events = async () => {
    await here.services.sent();
    return here.receiver.events();
  };
  const values = async () => (await events()).map(({ value }) => String(value)).sort();
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    here.node = stack.adopt(await startLimitedNode(here.chain.rpcUrl), (it) => it.close());
    here.services = await startHarness({ rpcUrl: here.node.url, dir: here.dir, ...given });
    stack.defer(() => here.services.close());
    if (watches) here.webhookId = await watch();
  });
  afterEach(() => stack.disposeAsync());
  return Object.assign(here, {
    watch,
    scan,
    events,
    values,
    async arrived() {
      await scan();
      return await values();
    },
    /** Starts the services again over the same folder, after those that ran were closed. */
    async restart(options: Partial<ServicesOptions> = {}) {
      await here.services.close();
      const source = options.chains === undefined ? { rpcUrl: here.node.url } : {};
      here.services = await startHarness({ ...source, dir: here.dir, ...given, ...options });
    },
    /** Mines a block in which Alice pays Treasury. */
    pay: (amount: bigint, kind: 'native' | 'internal' | 'erc20' = 'native') =>
      here.chain.transfer({ kind, from: 'Alice', to: 'Treasury', amount }),
    advance: (ms: number) => here.services.clock.advance(ms),
    call: (...request: Parameters<Harness['call']>) => here.services.call(...request),
  });
}

type WatchSettings = Partial<Omit<Webhook, 'id' | 'projectId' | 'url'>>;

export const callApi =
  (root: string) =>
  async (
    method: string,
    path: string,
    body?: unknown,
    as: Project = HARBOR,
  ): Promise<{ status: number; body: never }> => {
    const response = await fetch(`${root}${path}${path.includes('?') ? '&' : '?'}apiKey=${as.key}`, {
      method,
      headers: { 'API-SECRET': as.secret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as never };
  };

export type Harness = Awaited<ReturnType<typeof startHarness>>;

export async function startHarness(options: Pick<ServicesOptions, 'dir'> & Partial<ServicesOptions>) {
  const clock = createManualClock();
  const services = await startServices({
    projects: [HARBOR, OTHER],
    clock,
    webhookAllow: ['127.0.0.1'],
    ...options,
  });
  const notification = services.notification!;
  const call = callApi(services.notificationUrl);
  /** Resolves with the first step after this call that fits. */
  const step = (fits: (progress: DeliveryProgress) => boolean): Promise<DeliveryProgress> => {
    const found = new Promise<DeliveryProgress>((resolve) => {
      const stop = notification.onProgress((progress) => {
        if (!fits(progress)) return;
        stop();
        resolve(progress);
      });
    });
    return inTime(`a step of a delivery that fits ${fits.toString()}`, found);
  };
  return {
    ...services,
    notification,
    clock,
    call,
    step,
    async ready(): Promise<Ready> {
      const response = await fetch(`${services.url}/readyz`);
      const { chains } = (await response.json()) as { chains: [Omit<Ready, 'status'>] };
      return { status: response.status, ...chains[0] };
    },
    /** Resolves once nothing is left to send; what has not arrived by then never will. Rejects when a response is not 200. */
    async sent() {
      while (notification.pending() > 0) {
        const { type } = await step((progress) => progress.type === 'ended' || progress.type === 'scheduled');
        if (type === 'scheduled') throw new Error('A receiver did not respond with 200.');
      }
    },
    /** Creates a webhook of HARBOR, for all events unless `settings` say otherwise; returns its id. */
    async watch(webhookUrl: string, addresses: readonly string[], settings: WatchSettings = {}) {
      const webhook = { projectId: HARBOR.id, webhookUrl, eventType: 'ALL', addresses, ...settings };
      const { status, body } = await call('POST', '/webhook', webhook);
      if (status !== 201) throw new Error(`The webhook was not created: ${status} ${JSON.stringify(body)}`);
      return (body as { webhookId: string }).webhookId;
    },
  };
}
