import { afterEach, beforeEach, expect, it } from 'vitest';
import { ALERTS, ALICE, HARBOR, type Pipeline, payment, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { buttonsOf, type CommandWorld, isPrivate, seed, startWorld, textOf } from './world.ts';

let pipeline: Pipeline;
let world: CommandWorld;
beforeEach(async () => {
  world = await startWorld();
  ({ pipeline } = world);
});
afterEach(() => world.close());

const why = async (transaction: unknown, who = {}) =>
  textOf(await world.use('why', { transaction: String(transaction) }, who));

/** Receives a transfer and waits until everything about it is done. */
async function receive(change: object = {}): Promise<string> {
  const body = payment(change);
  await pipeline.receive(body);
  await pipeline.idle();
  return String(body.txHash);
}

it('tells how a transfer came, which filter dropped it, and links the message', async () => {
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, WHALES, { minimum: '1000' });
  await world.store.labels.set(HARBOR, { address: ALICE, name: 'Alice’s wallet', createdBy: seed.ada, at: 0 }, 1_000);
  const body = payment();
  await pipeline.receive(body);
  await pipeline.idle();
  pipeline.clock.advance(3_600_000);
  await pipeline.receive(body);
  await pipeline.idle();

  const answer = await world.use('why', { transaction: `https://explorer.example/tx/${String(body.txHash)}?tab=logs` });
  expect(isPrivate(answer)).toBe(true);
  const text = textOf(answer);
  const message = pipeline.discord.messages(ALERTS)[0]!.message.id;
  expect(text).toContain(`(https://discord.com/channels/${HARBOR}/${ALERTS}/${message})`);
  expect(text).toMatch(/5 `USDC`/);
  expect(text).toMatch(/From Alice’s wallet/);
  expect(text).toContain(`Token [\`${USDC}\`](https://explorer.example/token/${USDC})`);
  expect(text).toMatch(/Received 2 times/);
  expect(text).toMatch(/Treasury \(number 1\) matched/);
  expect(text).toMatch(/Treasury \(number 2\): the amount is below its minimum.*option `minimum`/);
});

it('a hash that is none, and one that nobody saw', async () => {
  expect(await why('0x1234')).toMatch(/64 hexadecimal digits/);
  expect(await why(`0x${'a'.repeat(64)}`)).toMatch(/has not arrived for any of this server’s addresses/);
});

it('what only other servers met is as unknown as what never came', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const hash = await receive();
  expect(await why(hash, { in: seed.orchid.lobby })).toMatch(/has not arrived for any of this server’s addresses/);
  expect(await why(hash)).toMatch(/matched/);
});

it('what came by the server’s own project says that nobody watches it', async () => {
  expect(await why(await receive())).toMatch(/none of its addresses is watched here/);
});

it('what waits for a channel that cannot be written to says so', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.fault({ fault: { kind: 'error', status: 403, code: 50_013 }, method: 'POST', channelId: ALERTS });
  expect(await why(await receive())).toMatch(/On hold: I’m not allowed to post in this channel/);
});

it('what waits because all channels of the server wait together says so', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.fault({ fault: { kind: 'error', status: 503, code: 0 }, method: 'POST', channelId: ALERTS });
  const hash = await receive();
  world.services.sendingHold = () => ({ since: 0, probeAt: 90_000, refusals: 12 });
  expect(await why(hash)).toMatch(/On hold: Discord rejected several of my messages in this server.*<t:90:R>/);
});

it('what waits for a digest says until when, and afterwards that it was counted in one', async () => {
  await pipeline.watch(TREASURY, WHALES, { digest: 'hourly' });
  const hash = await receive();
  expect(await why(hash)).toMatch(/Waiting for the hourly digest, <t:\d+:R>/);
  await receive();
  await pipeline.turnUntil(() => pipeline.alerts(WHALES).length > 0, 4_000);
  await pipeline.idle();
  const text = await why(hash);
  expect(text).toMatch(/Included in a digest of 2 alerts.*\/channels\/.*\n.*uses an hourly digest/);
});

it('what is gathered because of too many lines says so', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  for (let line = 1; line <= 61; line++) {
    await receive();
    await pipeline.pass(1_000);
  }
  expect(await why(await receive())).toMatch(/Waiting for a digest, <t:\d+:R>, because there were more than 60 alerts/);
});

it('what Discord refused in every form says so, with its reason', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.fault({ fault: { kind: 'error', status: 400, code: 50_035 }, method: 'POST', channelId: ALERTS });
  const hash = await receive();
  expect(await why(hash)).toMatch(/Could not be sent.*`.*50035/);
  const [letter] = await pipeline.store.deadLetters.list(1);
  expect(await pipeline.store.deadLetters.discard(letter!.id, Date.now())).toBe(true);
  expect(await why(hash)).toMatch(/Could not be sent\. The bot’s operator discarded it <t:\d+:f>/);
});

it('each transfer of a transaction has its own story', async () => {
  await pipeline.watch(TREASURY, ALERTS, { minimum: '6' });
  const txHash = await receive();
  await receive({ txHash, value: '9000000', projectId: 'another' });
  const [small = '', large = ''] = (await why(txHash)).split('9 `USDC`');
  for (const [text, right, wrong] of [
    [small, ['below its minimum', '`p`'], [' matched', '`another`']],
    [large, [' matched', '`another`'], ['below its minimum', '`p`']],
  ] as const) {
    for (const part of right) expect(text).toContain(part);
    for (const part of wrong) expect(text).not.toContain(part);
  }
});

it('names the operator’s project to its own servers only, and any other that a delivery claims to all', async () => {
  const { orchid } = seed;
  await pipeline.watch(TREASURY, orchid.lobby, { guildId: orchid.id });
  await pipeline.watch(TREASURY, ALERTS);
  const hash = await receive({ projectId: 'p1' });
  expect(await why(hash)).toContain('Sent by project `p1`');
  const elsewhere = await why(hash, { in: orchid.lobby });
  expect(elsewhere).toContain('matched');
  expect(elsewhere).not.toContain('project');
  expect(await why(await receive({ projectId: 'another' }), { in: orchid.lobby })).toContain(
    'Sent by project `another`',
  );
});

it('every transfer of the transaction is told', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const txHash = await receive();
  await receive({ txHash, value: '9000000' });
  const text = await why(txHash);
  expect(text).toMatch(/5 `USDC`[\s\S]*9 `USDC`/);
});

it('the manager role learns nothing about channels that it cannot see', async () => {
  const { id: guildId, watchers, treasury } = seed.harbor;
  await world.use('setup server', { manager: watchers });
  pipeline.discord.act({ do: 'member.update', guildId, userId: seed.noa, roleIds: [watchers] });
  await pipeline.watch(TREASURY, treasury, { label: 'Secret' });
  const hash = await receive();
  const text = await why(hash, { as: seed.noa });
  expect(text).toMatch(/Results for 1 channel that you can’t see/);
  expect(text).not.toMatch(/number 1|matched/);
  expect(await why(hash)).toMatch(/Secret \(number 1\) matched/);
  // Discord is asked once about one that is gone, however many transfers were told there.
  const gone = '1100000000000088888';
  await pipeline.watch(TREASURY, gone, { label: 'Lost' });
  const txHash = await receive();
  await receive({ txHash, value: '9000000' });
  const told = await why(txHash, { as: seed.noa });
  expect(told).toContain('Lost (number');
  expect(told.match(/1 channel that you can’t see/g)).toHaveLength(2);
  expect(pipeline.discord.requests().filter(({ path }) => path.endsWith(`/channels/${gone}`))).toHaveLength(1);
});

it('the button explains the message’s transaction, and lets choose where there are several', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const first = await receive();
  const held = pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 50 }, channelId: ALERTS });
  const [, second, third] = [await receive(), await receive(), await receive({ value: '7000000' })];
  held.clear();
  await pipeline.turnUntil(() => pipeline.alerts(ALERTS).length === 4);

  expect(textOf(await press(reference(0)))).toContain(first);
  const several = await press(reference(2));
  expect(isPrivate(several)).toBe(true);
  expect(textOf(several)).toMatch(/contains 2 transactions/);
  expect(textOf(several)).not.toContain(third);
  const { id: messageId, history } = several.reply!;
  const versions = history.length;
  const customId = `why:pick:${reference(2)}`;
  const pick = { kind: 'select' as const, messageId, customId, values: [third!], userId: seed.ada, channelId: ALERTS };
  const picked = await (await pipeline.discord.use(pick)).until(({ reply }) => (reply?.history.length ?? 0) > versions);
  expect(textOf(picked)).toContain(third);
  expect(textOf(picked)).not.toContain(second);
  expect(textOf(picked)).toMatch(/7 `USDC`[\s\S]*The same message includes 1 alert for other transactions/);

  // A reference says nothing outside its server.
  const elsewhere = await press(reference(0), seed.orchid.lobby);
  expect(textOf(elsewhere)).toMatch(/This message is no longer on record/);
});

/** The reference of one of the channel's messages. */
const reference = (index: number) =>
  /why:show:(\w+)/.exec(JSON.stringify(pipeline.discord.messages(ALERTS)[index]!.message.components))![1]!;

/** Presses the "Why?" button of the message with this reference. */
const press = async (of: string, channelId = ALERTS, as = seed.ada) =>
  world.press(await world.post(`why:show:${of}`, channelId), 'why:show', { in: channelId, as });

it('explains an alert to everybody who sees it, with what concerns that message only', async () => {
  const { treasury } = seed.harbor;
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, treasury, { label: 'Secret' });
  await receive();
  await pipeline.idle();
  const shown = await press(reference(0), ALERTS, seed.mia);
  const text = textOf(shown);
  expect(isPrivate(shown)).toBe(true);
  expect(text.split('\n')[1]).toMatch(
    /^Posted because (Treasury|Secret) \(#\d+\) watches this wallet and no filter hid it\.$/,
  );
  expect(text).toMatch(/Block 18,?[\d,]+/);
  expect(text).not.toMatch(/Received|Sent by project|can’t see/);
  expect(text).not.toContain(`<#${treasury}>`);
  // Who manages the bot sees more.
  expect(textOf(await press(reference(0)))).toContain('Received');
});

it('lets managers mute what posted an alert, and checks their right when they press', async () => {
  const id = await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
  await pipeline.watch(TREASURY, WHALES, { label: 'Treasury' });
  await receive();
  await pipeline.idle();
  expect(buttonsOf(await press(reference(0), ALERTS, seed.mia))).toEqual([]);
  const shown = await press(reference(0));
  const lengths = ['1h', '8h', '1d', '7d', 'forever'];
  expect(buttonsOf(shown)).toEqual(lengths.map((length) => `subscription:mute:${id}:${length}`));
  const mutes = async () => (await pipeline.store.subscriptions.list(HARBOR)).map(({ mutedUntil }) => mutedUntil);

  const mute = `subscription:mute:${id}:1d`;
  const refused = await world.press(await world.post(mute), mute, { as: seed.mia });
  expect(textOf(refused)).toMatch(/Manage Server/);
  expect(await mutes()).toEqual([null, null]);
  const muted = await world.press(shown, mute);
  expect(textOf(muted)).toMatch(/Muted .*Treasury[\s\S]*No alerts until <t:/);
  expect(await mutes()).toEqual([pipeline.clock.now() + 86_400_000, null]);
  await world.press(muted, `subscription:mute:${id}:off`);
  expect(await mutes()).toEqual([null, null]);
});

it('says that a rate limit or the breaker holds an alert back', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.fault({
    fault: { kind: 'rate-limit', retryAfterMs: 60_000 },
    path: '/channels/:channel/messages',
    times: 1,
  });
  const hash = await receive();
  world.services.sendingPauses = () => [{ channelId: ALERTS, reason: 'rate', until: 60_000 }];
  expect(await why(hash)).toContain('Waiting for Discord’s rate limit. Sending resumes <t:60:R>.');
  expect(textOf(await world.use('status'))).toContain(`<#${ALERTS}>: Discord’s rate limit; sending resumes <t:60:R>`);
  world.services.sendingPauses = () => [{ channelId: null, reason: 'breaker', until: 60_000 }];
  expect(await why(hash)).toContain('Discord refuses all messages of this bot right now. The next try is <t:60:R>.');
  world.services.sendingPauses = () => [];
});

it('equal transfers, a chain that was reorganised and a subscription that is gone are told of', async () => {
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
  expect(before).toMatch(/Treasury \(number 1\) matched/);
  await pipeline.store.subscriptions.remove(HARBOR, id);
  expect(await why(body.txHash)).toContain('a subscription that was removed (number 1) matched');
});

it('an address that is marked as a look-alike is told with the one that it looks like', async () => {
  const [known, fake] = ['1', '2'].map((digit) => `0xabcd${digit.repeat(32)}ef01` as const);
  await pipeline.watch(TREASURY, ALERTS);
  await world.store.labels.set(HARBOR, { address: known!, name: 'Payroll', createdBy: seed.ada, at: 0 }, 10);
  const told = await why(await receive({ from: fake }));
  expect(told.toLowerCase()).toContain(`flagged: \`${fake}\` looks like \`${known}\``);
});
