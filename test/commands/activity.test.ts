import { loadImage } from '@napi-rs/canvas';
import { beforeEach, describe, expect, it } from 'vitest';
import { readActivity, readActivityFile } from '../../commands/activity/report.ts';
import { shownIn } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { ALERTS, ALICE, HARBOR, payment, TREASURY, USDC } from '../pipeline/harness.ts';
import { decision, newAlert, routed, storedTransfer } from '../store/contract/given.ts';
import { until } from '../until.ts';
import { isPrivate, type Shown, seed, startWorld, textOf } from './world.ts';

const DAY = 86_400_000;
const world = await forFile(startWorld());
const { pipeline } = world;
beforeEach(async () => {
  await world.services.eraseGuild(HARBOR);
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury', minimum: '2' });
  await receive({ value: '18400750000' });
  await pipeline.pass(2 * DAY, DAY);
  await receive({ from: TREASURY, to: ALICE, value: '250000000' });
  await receive({ value: '1000000' });
  await receive({ value: '0' });
});

async function receive(change: object): Promise<void> {
  await pipeline.receive(payment(change));
  await pipeline.idle();
}

/** A request about the last day, as the command makes it for people who see these channels. */
const requestOf = (address: `0x${string}`, channelIds: string[], max = 100) => {
  const until = pipeline.clock.now();
  return { guildId: HARBOR, address, channelIds, since: until - DAY, until, timezone: 'UTC', max };
};
const filesOf = ({ reply }: Shown) => reply!.message.attachments;
const csvIn = async (shown: Shown) => (await load(filesOf(shown)[0]!.url)).toString();
const read = (address: string, who = {}) => world.read('activity', { address }, who);
/** An address that no other test names, such as 0x5555… */
const addressOf = (digits: string) => `0x${digits.repeat(40 / digits.length)}` as const;
const pictureOf = ({ reply }: Shown) => reply!.message.embeds[0]!.image!.url;
const load = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

it('shows in /activity one chart, sums, the largest transfers with their messages, and what was hidden', async () => {
  const answer = await world.use('activity', { address: TREASURY, period: '7d' });
  expect(answer).toSatisfy(isPrivate);
  const text = textOf(answer);
  expect(text).toMatch(/Treasury · last 7 days/);
  expect(text).toMatch(/\*\*2\*\* incoming transfers[\s\S]*\*\*1\*\* outgoing transfer /u);
  const posted = pipeline.discord.messages(ALERTS).map(({ message }) => message);
  const message = posted.findLast((one) => shownIn(one).some(({ title }) => title.includes('18,400.75')))!;
  for (const part of [
    '📥 18,401.75 `USDC` in 2 transfers',
    '📤 250 `USDC` in 1 transfer',
    `(https://discord.com/channels/${HARBOR}/${ALERTS}/${message.id})`,
    '1 transfer: below the minimum\n1 transfer: zero amount \\*',
  ])
    expect(text).toContain(part);

  const image = await loadImage(await load(pictureOf(answer)));
  expect([image.width, image.height]).toEqual([1_100, 540]);
});

it('shows another period of /activity with another chart when its button is pressed', async () => {
  const week = await world.use('activity', { address: 'treasury' });
  const before = await load(pictureOf(week));
  const day = await world.press(week, 'activity:show:24h');
  expect(textOf(day)).toMatch(/last 24 hours/);
  expect(textOf(day)).toContain('📥 1 `USDC` in 1 transfer');
  expect(pictureOf(day)).toMatch(/activity-24h\.png/);
  expect(await load(pictureOf(day))).not.toEqual(before);
});

it('lists every transfer of the period in the CSV file of /activity, posted or not', async () => {
  const file = await world.press(await world.use('activity', { address: TREASURY }), 'activity:csv');
  expect(file).toSatisfy(isPrivate);
  const lines = (await csvIn(file)).split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines[1]).toMatch(/,incoming,erc20,.*,18400.75,,1,yes$/);
  expect(lines.slice(2).map((line) => line.split(',').at(-1))).toEqual(['yes', 'no: minimum', 'no: zero']);
});

describe('visibility', () => {
  it('refuses to show an address that nobody watches, or only in channels that the member cannot see', async () => {
    expect(await read(ALICE)).toMatch(/isn’t watched in any channel you can see/);
    expect(await read(`0x${'1a'.repeat(32)}`)).toMatch(/transaction hash/);
    await pipeline.watch(ALICE, seed.harbor.treasury, { label: 'Secret' });
    const member = { as: seed.mia };
    expect(await read(ALICE, member)).toMatch(/isn’t watched/);
    await world.name(USDC, 'Elsewhere');
    expect(await read('elsewhere')).toMatch(/isn’t watched/);
    for (const name of ['secret', 'elsewhere']) expect(await read(name, member)).toMatch(/No address has that name/);
    const offered = async (who: object) =>
      (await world.choices('activity', 'address', {}, who)).map(({ name }) => name).join();
    expect(await offered(member)).toMatch(/^Treasury · 0x1111…1111$/);
    expect(await offered({})).toMatch(/Secret/);
    // A button pressed with an address that is not on it.
    const forged = await world.post(`activity:csv:7d:${ALICE}`);
    expect(textOf(await world.press(forged, 'activity:csv', member))).toMatch(/isn’t watched/);
  });

  it('hides what was decided about an address, or posted, in channels that the member cannot see', async () => {
    const address = addressOf('5');
    const { treasury } = seed.harbor;
    await pipeline.watch(address, ALERTS);
    await pipeline.watch(address, treasury, { direction: 'outgoing' });
    await receive({ from: addressOf('4'), to: address });
    const seen = async (...channelIds: string[]) => {
      const request = requestOf(address, channelIds);
      const { largest, messages } = await readActivity(pipeline.store, request, []);
      const { csv } = await readActivityFile(pipeline.store, request);
      const rows = csv.split('\r\n').slice(1);
      const channels = largest.map(({ transferId }) => messages.get(transferId)?.channelId);
      return [...channels, ...rows.map((row) => row.split(',').at(-1))];
    };
    expect(await seen(ALERTS)).toEqual([ALERTS, 'yes']);
    expect(await seen(treasury)).toEqual([undefined, 'no: direction']);
    expect(await seen()).toEqual([]);
  });
});

it('keeps the earlier activity of a moved subscription for people who see its earlier channel', async () => {
  const address = addressOf('c');
  const subscription = String(await pipeline.watch(address, seed.harbor.treasury));
  await receive({ to: address });
  await world.use('subscription edit', { subscription, channel: ALERTS });
  await receive({ from: address, to: ALICE });
  expect(await read(address)).toMatch(/\*\*1\*\* incoming transfer [\s\S]*\*\*1\*\* outgoing transfer /u);
  const some = await read(address, { as: seed.mia });
  expect(some).toMatch(/\*\*0\*\* incoming transfers [\s\S]*\*\*1\*\* outgoing transfer /u);
});

it('counts a transfer that several subscriptions hide under the reason of the one nearest to a match', async () => {
  const own = [{ direction: 'outgoing' as const }, { minimum: '100' }];
  for (const [address, [first, second]] of [
    [addressOf('12'), own],
    [addressOf('21'), own.toReversed()],
  ] as const) {
    await pipeline.watch(address, ALERTS, first);
    await pipeline.watch(address, seed.harbor.treasury, second);
    await receive({ to: address });
    expect((await read(address)).match(/^\d+ transfers?: .*/gm)).toEqual(['1 transfer: below the minimum']);
  }
});

it('links each of the largest transfers to its message and marks only imitations as such', async () => {
  const address = addressOf('a');
  const subscription = await pipeline.watch(address, ALERTS);
  for (const value of ['3000000', '4000000']) await receive({ to: address, value });
  const now = pipeline.clock.now();
  const place = { guildId: HARBOR, channelId: ALERTS };
  const matches = [{ subscription, perspective: 'incoming' as const, isKnown: true, mayMention: true }];
  await pipeline.store.routing.commit(
    routed({
      now,
      transfers: [storedTransfer(5, { seenAt: now, transfer: { to: address, token: USDC, value: '5000000' } })],
      alerts: [newAlert(5, { ...place, matches, warnings: [{ kind: 'uncataloged' }] })],
      decisions: [decision(5, { ...place, subscription, address, at: now })],
    }),
  );
  pipeline.deliverer.wake([{ channelId: ALERTS }]);
  await pipeline.idle();
  const posted = pipeline.discord.messages(ALERTS).slice(-3).toReversed();
  const { largest, messages } = await readActivity(pipeline.store, requestOf(address, [ALERTS]), []);
  expect(largest.map(({ transferId, imitation }) => [messages.get(transferId)?.messageId, imitation])).toEqual(
    posted.map(({ message }) => [message.id, false]),
  );
});

it('links a largest transfer whatever brackets its token has in its symbol', async () => {
  const address = addressOf('6');
  await pipeline.watch(address, ALERTS);
  await receive({ from: ALICE, to: address, tokenSymbol: 'A] [B' });
  expect(await read(address)).toMatch(/\[[^[\]]*A］ ［B[^[\]]*\]\(https:/);
});

it('does not show a token that copies a known symbol as the known one in /activity', async () => {
  const coin = { tokenType: 'Fuse', tokenAddress: null, tokenSymbol: null, tokenName: null, tokenDecimals: null };
  const genuine = { ...coin, value: '7000000000000000000' };
  await receive(genuine);
  await receive({ tokenAddress: `0x${'f'.repeat(40)}`, tokenSymbol: 'Fuse', value: '5000000' });
  const text = await world.read('activity', { address: TREASURY, period: '24h' });
  expect(text).toMatch(/^📥 7 Fuse in 1 transfer$/mu);
  expect(text).toMatch(/^⚠️ 📥 5 `Fuse` in 1 transfer$/mu);
  expect(text).toContain('These copy a known token’s name and are not the real one.');
});

it('removes the first period’s chart when the other period has no transfers', async () => {
  const quiet = addressOf('9');
  await pipeline.watch(quiet, ALERTS);
  await receive({ to: quiet });
  await pipeline.pass(2 * DAY, DAY);
  const week = await world.use('activity', { address: quiet });
  expect(filesOf(week)).toHaveLength(0);
  expect(pictureOf(week)).toMatch(/activity-7d/);
  const day = await world.press(week, 'activity:show:24h');
  expect(textOf(day)).toContain('No events for this address in this period.');
  expect([filesOf(day), day.reply!.message.embeds[0]!.image]).toEqual([[], undefined]);
});

it('reads only the latest of very many transfers for /activity, and reports that', async () => {
  const request = requestOf(TREASURY, [ALERTS]);
  const limited = { ...request, max: 2 };
  const all = await readActivity(pipeline.store, request, []);
  const some = await readActivity(pipeline.store, limited, []);
  expect([all.cut, some.cut]).toEqual([null, 2]);
  expect(some.incoming + some.outgoing).toBeLessThan(all.incoming + all.outgoing);
  const whole = await readActivityFile(pipeline.store, request);
  const part = await readActivityFile(pipeline.store, limited);
  const [, ...latest] = part.csv.split('\r\n');
  expect(whole.csv.split('\r\n').slice(-latest.length)).toEqual(latest);
});

it('puts the latest transfers into the CSV file, as many as Discord accepts, and counts the others', async () => {
  const address = addressOf('d');
  await pipeline.watch(address, ALERTS);
  const tokenSymbol = '\u0915\u094d\u0915\u094d\u0915\u094d\u0915\u093e'.repeat(32);
  await receive({ to: address, tokenSymbol, tokenDecimals: '255' });
  const now = pipeline.clock.now();
  const query = { guildId: HARBOR, channelIds: [ALERTS], address, since: 0, until: now };
  const [sample] = await pipeline.store.history.decidedTransfers(query, 1);
  const numbers = Array.from({ length: 15_000 }, (_, n) => 1_000 + n);
  await pipeline.store.routing.commit(
    routed({
      now,
      transfers: numbers.map((n) => storedTransfer(n, { seenAt: now, transfer: sample!.transfer })),
      decisions: numbers.map((n) => decision(n, { guildId: HARBOR, channelId: ALERTS, address, at: now })),
    }),
  );
  const file = await world.press(await world.use('activity', { address }), 'activity:csv');
  expect(filesOf(file)[0]!.size).toBeGreaterThan(9_990_000);
  const listed = (await csvIn(file)).split('\r\n').length - 1;
  expect(textOf(file)).toContain(`${(15_001 - listed).toLocaleString('en-US')} older`);
});

it('does not claim that nothing moved when the amounts are unknown', async () => {
  const vague = addressOf('e');
  await pipeline.watch(vague, ALERTS);
  await receive({ to: vague, value: null });
  expect(await read(vague)).toContain('📥 `USDC` in 1 transfer');
});

it('marks a rounded token ID in the CSV file', async () => {
  const collector = addressOf('4');
  await pipeline.watch(collector, ALERTS);
  await receive({ to: collector, tokenType: 'ERC-721', value: null, tokenId: '5.78960446186581e+76' });
  const file = await world.press(await world.use('activity', { address: collector }), 'activity:csv');
  expect(await csvIn(file)).toMatch(/,erc721,.*,5\.78960446186581e\+76 imprecise,1,yes$/m);
});

it('finds an address by its name, and never takes one of two whose names differ only in the case of accents', async () => {
  const [one, two] = [addressOf('7'), addressOf('8')];
  await pipeline.watch(one, ALERTS, { label: 'Cold wallet' });
  expect(await read('cold wallet')).toMatch(/Cold wallet · last 7 days/);
  await world.name(one, 'Élan');
  await pipeline.watch(two, ALERTS, { label: 'élan' });
  expect(await read('élan')).toMatch(/Several addresses have that name/);
});

it('shows sums, pieces and the chart in the number format of the person’s language, and the file in a neutral one', async () => {
  await receive({ tokenType: 'ERC-1155', tokenId: 7, value: '1234', tokenDecimals: null });
  const drawn: string[] = [];
  const { chart } = world.services;
  world.replace({
    chart(bars) {
      drawn.push(bars.language);
      return chart(bars);
    },
  });
  world.speak('de');
  const answer = await world.use('activity', { address: TREASURY, period: '7d' });
  const text = textOf(answer);
  for (const part of ['📥 1.234 × `USD Coin` in 1 ', '📥 18.401,75 `USDC` in 2 ', '📥 [18.400,75 `USDC`]'])
    expect(text).toContain(part);
  expect(drawn).toEqual(['de']);
  const file = await world.press(answer, 'activity:csv');
  expect(await csvIn(file)).toContain(',18400.75,,1,yes');
});

it('shows activity as text when the chart cannot be drawn', async () => {
  world.replace({ chart: () => Promise.reject(new Error('no canvas')) });
  expect(await read(TREASURY)).toMatch(/chart isn’t available[\s\S]*18,401.75/u);
});

it('draws one chart at a time per server, however many people ask', async () => {
  const drawing: PromiseWithResolvers<Buffer>[] = [];
  world.replace({
    chart() {
      drawing.push(Promise.withResolvers<Buffer>());
      return drawing.at(-1)!.promise;
    },
  });
  const asked = [1, 2, 3].map(() => world.use('activity', { address: TREASURY }));
  for (let drawn = 0; drawn < 3; drawn++) {
    await until('the next chart is drawn', () => drawing.length > drawn);
    await world.use('activity', { address: 'nobody' });
    expect(drawing).toHaveLength(drawn + 1);
    drawing[drawn]!.reject(new Error('no canvas'));
  }
  await Promise.all(asked);
});
