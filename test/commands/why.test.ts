import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { Fault } from '../../sandbox/discord/index.ts';
import { HOUR } from '../../src/domain/clock.ts';
import { forFile } from '../for-file.ts';
import { ALERTS, ALICE, HARBOR, payment, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { buttonsOf, isPrivate, menuOf, seed, startWorld, textOf } from './world.ts';

const world = await forFile(startWorld());
const { pipeline } = world;
afterEach(async () => {
  await world.reset();
  await world.services.eraseGuild(HARBOR);
  pipeline.discord.act({ do: 'forget' });
});

/** Discord's answer to each message in #alerts until the test ends. What the bot keeps in memory of it is then forgotten. */
function refuseMessages(fault: Fault) {
  const active = pipeline.discord.fault({ fault, method: 'POST', channelId: ALERTS });
  onTestFinished(async () => {
    active.clear();
    await world.restart();
  });
  return active;
}

const why = async (transaction: unknown, who = {}) =>
  await world.read('why', { transaction: String(transaction) }, who);

async function receive(change: object = {}): Promise<string> {
  const body = payment(change);
  await pipeline.receive(body);
  await pipeline.idle();
  return String(body.txHash);
}

it('shows how a transfer arrived, which filter hid it, and a link to the message', async () => {
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, WHALES, { minimum: '1000' });
  await world.name(ALICE, 'Alice’s wallet');
  const txHash = await receive();
  pipeline.clock.advance(HOUR);
  await receive({ txHash });

  const answer = await world.use('why', { transaction: `https://explorer.example/tx/${txHash}?tab=logs` });
  expect(answer).toSatisfy(isPrivate);
  const text = textOf(answer);
  const message = pipeline.discord.messages(ALERTS)[0]!.message.id;
  expect(text).toContain(`(https://discord.com/channels/${HARBOR}/${ALERTS}/${message})`);
  expect(text).toContain(`Token [\`${USDC}\`](https://explorer.example/token/${USDC})`);
  for (const sentence of [
    /5 `USDC`/,
    /From Alice’s wallet/,
    /Notified twice \(one watcher\)/,
    /Treasury \(#\d+\) matched/,
    /Treasury \(#\d+\): the amount is below its minimum.*option `minimum`/,
  ])
    expect(text).toMatch(sentence);
});

/** Watches the treasury in #alerts, where Discord refuses each message. */
async function refuse(status: number, code = 0) {
  await pipeline.watch(TREASURY, ALERTS);
  refuseMessages({ kind: 'error', status, code });
}

it('explains an invalid hash, and one that nobody saw', async () => {
  expect(await why('0x1234')).toMatch(/You entered `0x1234`.*64 hexadecimal digits/);
  expect(await why(`0x${'a'.repeat(64)}`)).toMatch(/has not arrived for any of this server’s addresses/);
});

it('treats a transfer of other servers like one that never came', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const hash = await receive();
  expect(await why(hash, { in: seed.orchid.lobby })).toMatch(/has not arrived for any of this server’s addresses/);
  expect(await why(hash)).toMatch(/\) matched/);
});

it('reports that nobody watches a transfer of the server’s own project', async () => {
  expect(await why(await receive())).toMatch(/none of its addresses is watched here/);
});

it('explains that an alert waits for a blocked channel', async () => {
  await refuse(403, 50_013);
  expect(await why(await receive())).toMatch(/On hold: I’m not allowed to post in this channel/);
});

it('explains that an alert waits because all channels of the server wait together', async () => {
  await refuse(503);
  const hash = await receive();
  world.replace({ guildPause: () => ({ since: 0, probeAt: 90_000, refusals: 12 }) });
  expect(await why(hash)).toMatch(/On hold: Discord rejected several of my messages in this server.*<t:90:R>/);
});

it('names in one sentence every subscription that posted, and none whose alert still waits for its digest', async () => {
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  const waits = await pipeline.watch(TREASURY, WHALES, { digest: 'hourly' });
  expect(await why(await receive())).toMatch(/^Posted because Treasury \(#\d+\) watches this wallet/m);
  await world.store.subscriptions.change(HARBOR, waits, { digest: null });
  expect(await why(await receive())).toMatch(
    /^Posted because Treasury \(#\d\) and Treasury \(#\d\) watch this transfer’s addresses and no filter/m,
  );
});

it('explains until when an alert waits for a digest, and later that the digest counted it', async () => {
  await pipeline.watch(TREASURY, WHALES, { digest: 'hourly' });
  const hash = await receive();
  expect(await why(hash)).toMatch(/Waiting for the hourly digest, <t:\d+:R>/);
  await receive();
  await pipeline.turnUntil('#whales shows an alert', () => pipeline.alerts(WHALES).length > 0, 4_000);
  await pipeline.idle();
  const text = await why(hash);
  expect(text).toMatch(/Included in a digest of 2 alerts.*\/channels\/.*\n.*uses an hourly digest/);
});

it('explains that Discord refused an alert in every form, with the reason', async () => {
  await refuse(400, 50_035);
  const hash = await receive();
  expect(await why(hash)).toMatch(/Could not be sent.*`.*50035/);
  const [letter] = await pipeline.store.deadLetters.list(1);
  expect(await pipeline.store.deadLetters.discard([letter!.id], Date.now())).toBe(1);
  expect(await why(hash)).toMatch(/Could not be sent\. The bot’s operator discarded it <t:\d+:f>/);
});

it('explains each transfer of a transaction separately', async () => {
  await pipeline.watch(TREASURY, ALERTS, { minimum: '6' });
  const txHash = await receive();
  await receive({ txHash, value: '9000000', projectId: 'another' });
  const [small, large] = (await why(txHash)).split('9 `USDC`');
  expect(small).toMatch(/^(?=.*below its minimum)(?=.*`p`)(?!.*(\) matched|`another`))/s);
  expect(large).toMatch(/^(?=.*\) matched)(?=.*`another`)(?!.*(below its minimum|`p`))/s);
});

it('shows the operator’s project only to its own servers, and any other that a delivery claims to all', async () => {
  const there = { in: seed.orchid.lobby };
  await pipeline.watch(TREASURY, there.in, { guildId: seed.orchid.id });
  await pipeline.watch(TREASURY, ALERTS);
  const hash = await receive({ projectId: 'p1' });
  expect(await why(hash)).toContain('Sent by project `p1`');
  const elsewhere = await why(hash, there);
  expect(elsewhere).toContain(') matched');
  expect(elsewhere).not.toContain('project');
  expect(await why(await receive({ projectId: 'another' }), there)).toContain('Sent by project `another`');
});

it('shows the manager role nothing about channels that it cannot see', async () => {
  const noa = { as: seed.noa };
  await world.makeManager(seed.noa);
  await pipeline.watch(TREASURY, seed.harbor.treasury, { label: 'Secret' });
  const hash = await receive();
  const text = await why(hash, noa);
  expect(text).toMatch(/Results for 1 channel that you can’t see/);
  expect(text).not.toMatch(/\(#\d+\)|\) matched/);
  expect(await why(hash)).toMatch(/Secret \(#\d+\) matched/);
  // One request to Discord about a deleted channel, however many transfers were posted there.
  const gone = '1100000000000088888';
  await pipeline.watch(TREASURY, gone, { label: 'Lost' });
  const txHash = await receive();
  await receive({ txHash, value: '9000000' });
  const reported = await why(txHash, noa);
  expect(reported).toContain('Lost (#');
  expect(reported.match(/1 channel that you can’t see/g)).toHaveLength(2);
  expect(pipeline.discord.requests().filter(({ path }) => path.endsWith(`/channels/${gone}`))).toHaveLength(1);
});

it('explains the message’s transaction on its button, and offers a choice if there are several', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const first = await receive();
  const held = refuseMessages({ kind: 'rate-limit', retryAfterMs: 50 });
  const [, second, third] = [await receive(), await receive(), await receive({ value: '7000000' })];
  held.clear();
  await pipeline.turnUntil('#alerts shows 4 alerts', () => pipeline.alerts(ALERTS).length === 4);

  expect(textOf(await press(reference(0)))).toContain(first);
  const several = await press(reference(2));
  expect(several).toSatisfy(isPrivate);
  expect(textOf(several)).toMatch(/contains 2 transactions/);
  expect(textOf(several)).not.toContain(third);
  const { id: messageId, history } = several.reply!;
  const versions = history.length;
  const customId = `why:pick:${reference(2)}:0`;
  const pick = { kind: 'select' as const, messageId, customId, values: [third!], userId: seed.ada, channelId: ALERTS };
  const picked = await (await pipeline.discord.use(pick)).until(({ reply }) => (reply?.history.length ?? 0) > versions);
  expect(textOf(picked)).toContain(third);
  expect(textOf(picked)).not.toContain(second);
  expect(textOf(picked)).toMatch(/7 `USDC`[\s\S]*The same message includes 1 alert for other transactions/);

  // A reference says nothing outside its server.
  const elsewhere = await press(reference(0), seed.orchid.lobby);
  expect(textOf(elsewhere)).toMatch(/This message is no longer on record/);
});

it('reaches every transaction of a digest, in pages that show direction and wallet', async () => {
  await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly', label: 'Treasury' });
  for (let n = 0; n < 30; n++) await receive({ value: `${n + 1}000000` });
  await pipeline.pass(HOUR, HOUR);
  const shown = await press(reference(0));
  const before = menuOf(shown).options;
  const after = menuOf(await world.press(shown, `why:page:${reference(0)}:1`, { in: ALERTS })).options;
  expect([before.length, after.length]).toEqual([25, 5]);
  expect(new Set([...before, ...after].map(({ label }) => label)).size).toBe(30);
  const row = { label: expect.stringMatching(/^📥 \d+ USDC$/) };
  expect(after[0]).toMatchObject({ ...row, description: expect.stringMatching(/ → Treasury · 0x\w{8}…\w{8}$/) });
});

it('marks a transfer between two watched wallets as one in the menu of a digest', async () => {
  for (const address of [TREASURY, ALICE]) await pipeline.watch(address, ALERTS, { digest: 'hourly' });
  await receive({ value: '1000000' });
  await receive({ value: '2000000', from: USDC });
  await pipeline.pass(HOUR, HOUR);
  const { options } = menuOf(await press(reference(0)));
  expect(options.map(({ label }) => label).toSorted()).toEqual(['📥 2 USDC', '🔁 1 USDC']);
});

const reference = (index: number) =>
  /why:show:(\w+)/.exec(JSON.stringify(pipeline.discord.messages(ALERTS)[index]!.message.components))![1]!;

const press = async (of: string, channelId = ALERTS, as = seed.ada) =>
  world.press(await world.post(`why:show:${of}`, channelId), 'why:show', { in: channelId, as });

it('explains an alert to everybody who sees it, limited to that message', async () => {
  const { treasury } = seed.harbor;
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, treasury, { label: 'Secret' });
  await receive();
  await pipeline.idle();
  const shown = await press(reference(0), ALERTS, seed.mia);
  const text = textOf(shown);
  expect(shown).toSatisfy(isPrivate);
  expect(text.split('\n')[1]).toMatch(
    /^Posted because (Treasury|Secret) \(#\d+\) watches this wallet and no filter hid it\.$/,
  );
  expect(text).toMatch(/Block [\d,]+ · Fee/);
  expect(text).not.toMatch(/Notified|Sent by project|can’t see/);
  expect(text).not.toContain(`<#${treasury}>`);
  const whole = textOf(await press(reference(0)));
  expect(whole).toContain('Notified');
  expect([text, whole].map((one) => one.includes(`ref ${reference(0)}`))).toEqual([false, true]);
});

it('lets managers mute what posted an alert, and offers it to nobody else', async () => {
  const id = await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, WHALES, { label: 'Treasury' });
  await receive();
  await pipeline.idle();
  expect(buttonsOf(await press(reference(0), ALERTS, seed.mia))).toEqual([]);
  const shown = await press(reference(0));
  const lengths = ['1h', '8h', '1d', '7d', 'forever'];
  expect(buttonsOf(shown)).toEqual(lengths.map((length) => `subscription:mute:${id}:${length}`));
  const mutes = async () => (await pipeline.store.subscriptions.list(HARBOR)).map(({ mutedUntil }) => mutedUntil);

  const muted = await world.press(shown, `subscription:mute:${id}:1d`);
  expect(textOf(muted)).toMatch(/Muted .*Treasury[\s\S]*No alerts until <t:/);
  expect(await mutes()).toEqual([pipeline.clock.now() + 86_400_000, null]);
  await world.press(muted, `subscription:mute:${id}:off`);
  expect(await mutes()).toEqual([null, null]);
});

it('explains that a rate limit or the breaker delays an alert', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  refuseMessages({ kind: 'rate-limit', retryAfterMs: 60_000 });
  const hash = await receive();
  world.replace({ sendingPauses: () => [{ channelId: ALERTS, reason: 'rate', until: 60_000 }] });
  expect(await why(hash)).toContain('Waiting for Discord’s rate limit. Sending resumes <t:60:R>.');
  expect(await world.read('status')).toContain(`<#${ALERTS}>: Discord’s rate limit; sending resumes <t:60:R>`);
  world.replace({ sendingPauses: () => [{ channelId: null, reason: 'breaker', until: 60_000 }] });
  expect(await why(hash)).toContain('Discord rejects all messages of this bot right now. The next try is <t:60:R>.');
});

it('says that the chain does not have a transfer', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const hash = await receive();
  const range = { after: 0, upTo: 1_000_000_000 };
  const found = await world.store.chainChecks.stored(0, range, [TREASURY], [hash]);
  const { id } = found.find(({ transfer }) => transfer.txHash === hash)!;
  await world.store.chainChecks.correct([{ id, count: 0 }], 0);
  expect(await why(hash)).toContain('The chain does not have this transfer');
});

it('explains equal transfers, a reorganized chain and a removed subscription', async () => {
  const id = await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  const body = payment();
  for (const more of [{}, {}, { blockHash: `0x${'c'.repeat(64)}` }]) {
    await pipeline.receive({ ...body, ...more });
    await pipeline.idle();
  }
  const before = await why(body.txHash);
  expect(before).toMatch(/5 `USDC` ×2/);
  expect(before).toContain('contains 2 identical transfers');
  expect(before).toContain('The chain was reorganized');
  expect(before).toMatch(/Treasury \(#\d+\) matched/);
  await pipeline.store.subscriptions.remove(HARBOR, id);
  expect(await why(body.txHash)).toContain(`a subscription that was removed (#${id}) matched`);
});

it('shows an address that was marked as a look-alike together with the address it copies', async () => {
  const [known, fake] = ['1', '2'].map((digit) => `0xabcd${digit.repeat(32)}ef01` as const);
  await pipeline.watch(TREASURY, ALERTS);
  await world.name(known!, 'Payroll');
  const reported = await why(await receive({ from: fake }));
  expect(reported.toLowerCase()).toContain(`flagged: \`${fake}\` looks like \`${known}\``);
});

it('explains that alerts are collected because there were too many, until only Discord delays them', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  for (let line = 1; line <= 61; line++) {
    await receive();
    await pipeline.pass(1_000);
  }
  refuseMessages({ kind: 'error', status: 500 });
  expect(await why(await receive())).toMatch(/Waiting for a digest, <t:\d+:R>, because there were more than 60 alerts/);
  await pipeline.pass(30_000);
  const text = await why(await receive());
  expect(text).not.toContain('Waiting for a digest');
  expect(text).toMatch(/The last try failed/);
});

it('reaches every transfer of a transaction, in pages, for managers and for everybody who sees the alert', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.watch(TREASURY, seed.harbor.treasury, { direction: 'outgoing' });
  const txHash = await receive({ value: '1000000' });
  for (let n = 2; n <= 11; n++) await receive({ txHash, value: `${n}000000` });
  await receive({ txHash, from: TREASURY, to: ALICE, value: '12000000' });
  await pipeline.idle();
  const amounts = (text: string) => [...text.matchAll(/🔎 (\d+) `USDC`/g)].map(([, amount]) => Number(amount));
  for (const [start, as] of [
    [press(reference(0)), seed.ada],
    [press(reference(0), ALERTS, seed.mia), seed.mia],
    [world.use('why', { transaction: txHash }), seed.ada],
  ] as const) {
    let shown = await start;
    const seen = amounts(textOf(shown));
    expect(textOf(shown)).toMatch(/^…and 7 more/m);
    for (const next of [1, 2]) {
      const id = buttonsOf(shown).find((one) => /^why:part:.*:\d$/.test(one) && one.endsWith(`:${next}`))!;
      shown = await world.press(shown, id, { in: ALERTS, as });
      seen.push(...amounts(textOf(shown)));
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  }
});

it('shows whole what an alert shortens: a token ID of 78 digits, a long name and symbol', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const tokenId = '7'.repeat(78);
  const tokenName = `Fine ${'x'.repeat(60)} Pieces`;
  const tokenSymbol = `FINE${'X'.repeat(60)}END`;
  const nft = await why(await receive({ tokenType: 'ERC-721', tokenId, value: null, tokenName }));
  expect(nft).toMatch(new RegExp(`^(?=.*Token ID \`${tokenId}\`).*\`${tokenName}\``, 's'));
  expect(await why(await receive({ tokenSymbol }))).toContain(`\`${tokenSymbol}\``);
});

it('begins the details of a swap with one headline', async () => {
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  const txHash = await receive({ from: TREASURY, to: ALICE });
  await receive({ txHash, tokenType: 'ETH', tokenAddress: null, value: '2000000000000000000' });
  expect(await why(txHash)).toMatch(/^\*\*🔄 Treasury −5 `USDC` → \+2 ETH\*\*\n🔎/);
  for (const n of [1, 2, 3]) await receive({ txHash, from: TREASURY, to: ALICE, value: `${n}000000` });
  expect(await why(txHash)).toMatch(/^\*\*🔄/);
  // With some of them left out, its amounts would be wrong.
  await receive({ txHash, from: TREASURY, to: ALICE, value: '9000000' });
  expect(await why(txHash)).toMatch(/^…and 1 more/);
});
