import { loadImage } from '@napi-rs/canvas';
import { beforeEach, describe, expect, it } from 'vitest';
import { shownIn } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { ALERTS, ALICE, HARBOR, payment, TREASURY, USDC } from '../pipeline/harness.ts';
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
});

it('links no message in a channel that the member cannot see', async () => {
  const address = addressOf('5');
  await pipeline.watch(address, seed.harbor.treasury);
  await pipeline.watch(address, ALERTS, { direction: 'outgoing' });
  await receive({ to: address });
  const link = `/channels/${HARBOR}/${seed.harbor.treasury}/`;
  expect(await read(address)).toContain(link);
  expect(await read(address, { as: seed.mia })).not.toContain(link);
});

it('shows the earlier activity of a moved subscription only to people who see its earlier channel', async () => {
  const mia = { as: seed.mia };
  const address = addressOf('c');
  const subscription = String(await pipeline.watch(address, seed.harbor.treasury));
  await receive({ to: address });
  await world.use('subscription edit', { subscription, channel: ALERTS });
  await receive({ from: address, to: ALICE });
  const [all, some] = [await world.use('activity', { address }), await world.use('activity', { address }, mia)];
  expect(textOf(all)).toMatch(/\*\*1\*\* incoming transfer [\s\S]*\*\*1\*\* outgoing transfer /u);
  expect(textOf(some)).toMatch(/\*\*0\*\* incoming transfers [\s\S]*\*\*1\*\* outgoing transfer /u);
  const [whole, part] = [await world.press(all, 'activity:csv'), await world.press(some, 'activity:csv', mia)];
  expect([await csvIn(whole), await csvIn(part)].map((csv) => csv.split('\r\n').length - 1)).toEqual([2, 1]);
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

it('finds an address by its name, and never takes one of two whose names differ only in the case of accents', async () => {
  const [one, two] = [addressOf('7'), addressOf('8')];
  await pipeline.watch(one, ALERTS, { label: 'Cold wallet' });
  expect(await read('cold wallet')).toMatch(/Cold wallet · last 7 days/);
  await world.name(one, 'Élan');
  await pipeline.watch(two, ALERTS, { label: 'élan' });
  expect(await read('élan')).toMatch(/Several addresses have that name/);
});

it('shows sums and pieces in the number format of the person’s language, and the file in a neutral one', async () => {
  await receive({ tokenType: 'ERC-1155', tokenId: 7, value: '1234', tokenDecimals: null });
  world.speak('de');
  const answer = await world.use('activity', { address: TREASURY, period: '7d' });
  const text = textOf(answer);
  for (const part of ['📥 1.234 × `USD Coin` in 1 ', '📥 18.401,75 `USDC` in 2 ', '📥 [18.400,75 `USDC`]'])
    expect(text).toContain(part);
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
