import { request } from 'undici';
import { expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { shownIn } from '../discord/shown.ts';
import { ALICE, HARBOR, type Pipeline, payment, startPipeline } from '../pipeline/harness.ts';

const HOURS = 6;
const STEP = 10 * MINUTE;
const STEPS = (HOURS * 60 * MINUTE) / STEP;

/** How many alerts each channel gets. */
const SHARES = [...Array<number>(3).fill(1_250), ...Array<number>(5).fill(246), ...Array<number>(2).fill(12)];

let pipeline: Pipeline;

interface Channel {
  id: string;
  address: AddressText;
  alerts: number;
}

async function openChannels(): Promise<Channel[]> {
  const channels: Channel[] = [];
  for (const [n, alerts] of SHARES.entries()) {
    const { id } = pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `outage-${n}` });
    const address = `0x${(n + 128).toString(16).repeat(20)}` as AddressText;
    await pipeline.watch(address, id!);
    channels.push({ id: id!, address, alerts });
  }
  return channels;
}

/** The event of a channel's `n`-th alert, one of every ten outgoing; its amount in USDC is n + 1. */
function eventOf({ address }: Channel, n: number): Record<string, unknown> {
  const parties = n % 10 === 1 ? { from: address, to: ALICE, direction: 'outgoing' } : { from: ALICE, to: address };
  return payment({ ...parties, value: `${n + 1}000000` });
}

async function shown({ id }: Channel): Promise<{ counted: number; hashes: string[]; files: number }> {
  let [counted, files] = [0, 0];
  const hashes: string[] = [];
  for (const { message } of pipeline.discord.messages(id)) {
    for (const { title, text } of shownIn(message)) {
      const digest = /([\d,]+) transfers/.exec(title);
      if (!digest) hashes.push(/0x[0-9a-f]{64}/.exec(text)![0]);
      counted += digest ? Number(digest[1]!.replaceAll(',', '')) : 1;
    }
    for (const { url } of message.attachments) {
      files++;
      const rows = (await (await request(url)).body.text()).trim().split('\r\n').slice(1);
      for (const row of rows) hashes.push(/0x[0-9a-f]{64}/.exec(row)![0]);
    }
  }
  return { counted, hashes, files };
}

it('counts and lists every one of 5,004 alerts over 10 channels after six hours without Discord', async () => {
  pipeline = await startPipeline();
  const channels = await openChannels();
  const outage = pipeline.discord.fault({ fault: { kind: 'error', status: 503 } });
  for (let step = 0; step < STEPS; step++) {
    const events = channels.flatMap((channel) => {
      const until = (steps: number) => Math.floor((channel.alerts * steps) / STEPS);
      return Array.from({ length: until(step + 1) - until(step) }, (_, n) => eventOf(channel, until(step) + n));
    });
    await pipeline.storeTogether(events);
    // Wakes the router.
    await pipeline.receive('not an event');
    await pipeline.pass(STEP, STEP);
  }
  expect(channels.flatMap(({ id }) => pipeline.discord.messages(id))).toEqual([]);
  const before = pipeline.discord.requests().at(-1)!.number;
  outage.clear();
  await pipeline.turnUntilSettled();

  for (const channel of channels) {
    const { counted, hashes, files } = await shown(channel);
    const { alerts } = channel;
    expect([counted, files, hashes.length, new Set(hashes).size]).toEqual([alerts, 1, alerts, alerts]);
  }
  expect(await pipeline.backlog()).toMatchObject({ deadLetters: 0, channels: { parked: 0, unreachable: 0 } });
  // The backlog takes few requests: for each channel a message that was in flight, a digest, and searches.
  expect(pipeline.discord.requests(before).length).toBeLessThan(channels.length * 5);
}, 300_000);
