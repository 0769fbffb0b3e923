import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { HOUR, SECOND } from '../../src/domain/clock.ts';
import {
  ALERTS,
  GENERAL,
  HARBOR,
  OTHER_BLOCK,
  openPipeline,
  type Pipeline,
  type PipelineOptions,
  payment,
  WHALES,
} from '../pipeline/harness.ts';

/*
 * The model is the chain. A transaction holds transfers, each once or more. A channel shows one alert for each transfer
 * from or to one of its addresses, and none for a transfer from an address to itself. The alert shows ×N when its
 * transaction holds N equal transfers. The renderer decides which transfers share a message. Nothing that the sender does
 * (webhooks, twins, retries, rescans, another block) or that Discord does may change this, with one exception: N may be
 * lower, but never higher, when a body cannot be distinguished from a retry of another one.
 */

function render(alerts: Alert[], reference: string) {
  const shown = alerts.slice(0, 10);
  const embeds = shown.map(({ transfer, count }, place) => ({
    title: `· ${Number(transfer.value) / 1_000_000} ×${count}`,
    description: transfer.txHash,
    footer: { text: `ref ${reference}-${place + 1}` },
  }));
  return { payload: { embeds }, used: shown.length };
}

const CHANNELS = [ALERTS, WHALES, GENERAL];
const RESTART_MS = 6 * SECOND;

/** The fields in which the bodies of a transfer's webhooks differ. */
const WATCHERS = [
  { projectId: 'p', direction: 'incoming', addressType: 'Wallet' },
  { projectId: 'p', direction: 'outgoing', addressType: 'Wallet' },
  { projectId: 'p', direction: null, addressType: 'Token' },
  { projectId: 'another', direction: 'incoming', addressType: 'Wallet' },
  { projectId: 'another', direction: 'outgoing', addressType: 'Wallet', gasFee: null, tokenName: 'Renamed' },
];

const FAULTS: Fault[] = [
  { kind: 'lost' },
  { kind: 'cut' },
  { kind: 'reset' },
  { kind: 'error', status: 500 },
  { kind: 'rate-limit', retryAfterMs: 3_000 },
];

const transfers = fc.array(
  fc.record({
    parties: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)),
    copies: fc.constantFrom(1, 1, 1, 2, 3),
    watchers: fc.uniqueArray(
      fc.record({
        watcher: fc.nat(WATCHERS.length - 1),
        delay: fc.nat(60),
        gap: fc.nat(9),
        patience: fc.nat(3),
        /** The responses are lost on their way, so that each body comes again. */
        isLost: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4, selector: ({ watcher }) => watcher },
    ),
    /** The sender scans the chain again, up to a day later; in steps of ten minutes. */
    rescans: fc.uniqueArray(fc.record({ step: fc.integer({ min: 1, max: 144 }), moved: fc.boolean() }), {
      maxLength: 2,
      selector: ({ step }) => step,
    }),
  }),
  { minLength: 1, maxLength: 4 },
);
const scenario = fc.record({
  transfers,
  /** Channel, which of the run's addresses it watches, and whether it gets an hourly digest. */
  subscriptions: fc.uniqueArray(fc.tuple(fc.nat(2), fc.nat(2), fc.boolean()), {
    maxLength: 5,
    selector: ([channel, address]) => `${channel} ${address}`,
  }),
  secondsUntilHour: fc.nat(90),
  fault: fc.option(
    fc.record({
      which: fc.nat(FAULTS.length - 1),
      method: fc.constantFrom('POST', 'PATCH'),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  ),
  restartAt: fc.option(fc.nat(12)),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

let runs = 0;
/** Addresses and transactions (their hashes but for the last digit) that no other run has. */
function fresh() {
  const run = (++runs).toString(16);
  const addresses = [1, 2, 3].map((n) => `0x${`${n}${run.padStart(8, '0')}`.padStart(40, 'a')}` as AddressText);
  return { addresses, txHash: `0x${`f${run.padStart(8, '0')}`.padStart(63, '0')}` };
}

interface Post {
  at: number;
  body: object;
}

function postsOf({ transfers }: Scenario, addresses: AddressText[], txHash: string): Post[] {
  const posts: Post[] = [];
  transfers.forEach(({ parties, copies, watchers, rescans }, index) => {
    const [from, to, tokenAddress] = parties.map((n) => addresses[n]!);
    const base = payment({
      txHash: `${txHash}${index}`,
      from,
      to,
      tokenAddress,
      value: String((index + 1) * 1_000_000),
    });
    for (const { watcher, delay, gap, patience, isLost } of watchers) {
      const body = { ...base, ...WATCHERS[watcher] };
      const first = delay * SECOND;
      for (let copy = 0; copy < copies; copy++) {
        const at = first + copy * gap * SECOND;
        posts.push({ at, body });
        if (isLost) posts.push({ at: at + (15 + patience) * SECOND, body });
      }
      for (const { step, moved } of rescans) {
        const again = moved ? { ...body, ...OTHER_BLOCK } : body;
        for (let copy = 0; copy < copies; copy++) {
          posts.push({ at: (step * 600 + delay) * SECOND + copy * gap * SECOND, body: again });
        }
      }
    }
  });
  return posts.sort((a, b) => a.at - b.at);
}

/** Sends the posts, each at its time; `restartAt`: before which post the bot is restarted, or as soon as possible after it. */
async function send(posts: Post[], restartAt: number | null, pipeline: Pipeline): Promise<void> {
  const begun = pipeline.clock.now();
  let isRestarted = restartAt === null;
  for (const [index, { at, body }] of posts.entries()) {
    // A restart advances the clock, so it needs a pause between two posts.
    if (!isRestarted && index >= restartAt! && begun + at - pipeline.clock.now() >= RESTART_MS) {
      isRestarted = true;
      await pipeline.routed();
      await pipeline.restart();
    }
    const wait = begun + at - pipeline.clock.now();
    // Requests are real: none may last for longer than its timeout on the test's clock.
    if (wait > 30 * SECOND) await pipeline.idle();
    if (wait > 0) pipeline.clock.advance(wait);
    await pipeline.receive(body);
  }
}

/** Whether not all copies arrive within ten seconds of one run, whichever webhook sent them. */
const isDoubtful = ({ copies, watchers }: Scenario['transfers'][number], isRestarted: boolean) =>
  watchers.every(({ gap }) => (copies - 1) * gap >= 10 || (isRestarted && gap * SECOND >= RESTART_MS));

/** The alerts that each channel must show, as `<amount> ×<copies>`; of doubtful copies one may be missing in `shown`. */
function expected(
  { transfers, subscriptions, restartAt }: Scenario,
  shown: Record<string, string[]>,
): Record<string, string[]> {
  return Object.fromEntries(
    CHANNELS.map((channelId, channel) => {
      const watched = new Set(subscriptions.flatMap(([c, address]) => (c === channel ? [address] : [])));
      const alerts = transfers.flatMap(({ parties, copies }, index) => {
        const [from, to] = parties;
        const isShown = from !== to && parties.some((party) => watched.has(party));
        if (!isShown) return [];
        const fewer =
          isDoubtful(transfers[index]!, restartAt !== null) &&
          shown[channelId]!.includes(`${index + 1} ×${copies - 1}`);
        return [`${index + 1} ×${fewer ? copies - 1 : copies}`];
      });
      return [channelId, alerts];
    }),
  );
}

function shown(pipeline: Pipeline, txHash: string): Record<string, string[]> {
  return Object.fromEntries(
    CHANNELS.map((channelId) => {
      const own = pipeline.alerts(channelId).filter(({ text }) => text.includes(txHash));
      return [channelId, own.map(({ title }) => title.slice(2)).sort()];
    }),
  );
}

async function expectFiles(pipeline: Pipeline, txHash: string): Promise<void> {
  for (const { message } of CHANNELS.flatMap((channelId) => pipeline.discord.messages(channelId))) {
    const [file, ...others] = message.attachments;
    if (!file || !message.embeds[0]!.description!.startsWith(txHash)) continue;
    expect(others).toEqual([]);
    const text = await (await request(file.url)).body.text();
    expect(text.split('\n')).toEqual(message.embeds.map(({ title }) => title));
  }
}

/** Plays random chains, senders and faults of Discord; `openStore`: the engine, SQLite by default. */
export function modelTest({ numRuns, ...options }: Pick<PipelineOptions, 'openStore'> & { numRuns: number }): void {
  let pipeline: Pipeline;
  beforeAll(async () => {
    // Every transfer has an embed of its own, which is easier to count than one for a whole transaction.
    pipeline = await openPipeline({
      ...options,
      renderers: {
        render,
        renderAgain: render,
        countFitting: (alerts) => Math.min(alerts.length, 10),
        renderDigest(alerts, reference) {
          const { payload, used } = render(alerts, reference);
          return Promise.resolve({ payload, used, csv: payload.embeds.map(({ title }) => title).join('\n') });
        },
      },
    });
  });
  afterAll(() => pipeline.close());

  it('shows the chain in every channel whatever the sender repeats and Discord loses', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const { addresses, txHash } = fresh();
        const watching: number[] = [];
        for (const [channel, address, hourly] of given.subscriptions) {
          const digest = hourly ? 'hourly' : null;
          watching.push(await pipeline.watch(addresses[address]!, CHANNELS[channel]!, { digest }));
        }
        pipeline.clock.advance(2 * HOUR - (pipeline.clock.now() % HOUR) - given.secondsUntilHour * SECOND);
        if (given.fault) {
          const { which, ...rule } = given.fault;
          pipeline.discord.fault({ fault: FAULTS[which]!, path: '/channels/**', ...rule });
        }
        await send(postsOf(given, addresses, txHash), given.restartAt, pipeline);
        await pipeline.idle();
        pipeline.clock.advance(HOUR);
        await pipeline.turnUntilSettled();
        pipeline.discord.clearFaults();
        for (const id of watching) await pipeline.store.subscriptions.remove(HARBOR, id);
        const actual = shown(pipeline, txHash);
        expect(actual).toEqual(expected(given, actual));
        await expectFiles(pipeline, txHash);
      }),
      { numRuns, endOnFailure: true },
    );
  }, 900_000);
}
