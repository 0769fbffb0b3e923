import { request } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { ALICE, HARBOR, type Pipeline, payment, startPipeline } from '../pipeline/harness.ts';

const MINUTE = 60_000;
const HOURS = 6;
const STEP = 10 * MINUTE;
const STEPS = (HOURS * 60 * MINUTE) / STEP;

/** How many lines each of the 50 channels gets: 20,000 altogether, from a summary with a file down to single lines. */
const SHARES = [...Array<number>(10).fill(1_250), ...Array<number>(30).fill(246), ...Array<number>(10).fill(12)];
const LINES = 20_000;

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
});
afterEach(() => pipeline.close());

interface Room {
  id: string;
  address: AddressText;
  lines: number;
}

async function openChannels(): Promise<Room[]> {
  const channels: Room[] = [];
  for (const [n, lines] of SHARES.entries()) {
    const { id } = pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `outage-${n}` });
    const address = `0x${(n + 128).toString(16).repeat(20)}` as AddressText;
    await pipeline.watch(address, id!);
    channels.push({ id: id!, address, lines });
  }
  return channels;
}

/** The event of a channel's `n`-th line, a second one of every ten outgoing; its amount in USDC is n + 1. */
function line({ address }: Room, n: number): Buffer {
  const parties = n % 10 === 1 ? { from: address, to: ALICE, direction: 'outgoing' } : { from: ALICE, to: address };
  return Buffer.from(JSON.stringify(payment({ ...parties, value: `${n + 1}000000` })));
}

/** The transactions that a channel tells of: each line's, each row's of an attached file, and the digests' counts. */
async function told({ id }: Room): Promise<{ counted: number; hashes: string[]; files: number }> {
  let counted = 0;
  const hashes: string[] = [];
  let files = 0;
  for (const { message } of pipeline.discord.messages(id)) {
    for (const { title = '', ...embed } of message.embeds) {
      const digest = /([\d,]+) transfers/.exec(title);
      if (!digest) hashes.push(/0x[0-9a-f]{64}/.exec(JSON.stringify(embed))![0]);
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

it('counts every one of 20,000 alerts over 50 channels after six hours without Discord', async () => {
  const channels = await openChannels();
  expect(SHARES.reduce((sum, lines) => sum + lines)).toBe(LINES);
  const outage = pipeline.discord.fault({ fault: { kind: 'error', status: 503 } });
  for (let step = 0; step < STEPS; step++) {
    const rows = channels.flatMap((channel) => {
      const until = (steps: number) => Math.floor((channel.lines * steps) / STEPS);
      return Array.from({ length: until(step + 1) - until(step) }, (_, n) => line(channel, until(step) + n));
    });
    await pipeline.store.inbox.append(rows.map((body) => ({ scope: 0, receivedAt: pipeline.clock.now(), body })));
    await pipeline.receive('not an event');
    await pipeline.pass(STEP, STEP);
  }
  expect(channels.flatMap(({ id }) => pipeline.discord.messages(id))).toEqual([]);
  const before = pipeline.discord.requests().at(-1)!.number;
  outage.clear();
  await pipeline.turnUntil(pipeline.settled);

  for (const channel of channels) {
    const { counted, hashes, files } = await told(channel);
    expect([channel.id, counted]).toEqual([channel.id, channel.lines]);
    expect(new Set(hashes).size).toBe(hashes.length);
    // Beyond 500 lines everything is in the file; below 51 everything is a line of its own, or counted with the rest.
    if (channel.lines > 500) expect([files, hashes.length]).toEqual([1, channel.lines]);
    else expect(files).toBe(0);
  }
  expect(await pipeline.backlog()).toMatchObject({ deadLetters: 0, channels: { parked: 0, paused: 0 } });
  // A burst after an outage costs few requests: a line that was under way, a digest, and what was searched for.
  expect(pipeline.discord.requests(before).length).toBeLessThan(channels.length * 5);
});
