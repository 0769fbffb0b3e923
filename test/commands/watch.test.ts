import { afterEach, describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { A, B, buttonsOf, isPrivate, LIKE_A, lower, menuOf, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
const WATCH = 'Watch addresses in this message';
const world = await forFile(startWorld());
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);
const say = (content: string, channelId = harbor.alerts) =>
  world.discord.act({ do: 'message.send', channelId, userId: seed.mia, content }).id!;
const on = (content: string) => world.useOn(say(content), WATCH);

describe('watching the addresses in a message', () => {
  it('offers each address in a message once, and adds the chosen ones to this channel', async () => {
    await world.subscribe({ address: lower(TOKEN) });
    await world.name(B, 'Payroll');
    const asked = await on(
      `Pay ${A} and ${lower(B)}, (${lower(A)}) not ${TOKEN}; tx 0x${'a'.repeat(64)}, zero 0x${'0'.repeat(40)}`,
    );
    expect(asked).toSatisfy(isPrivate);
    expect(menuOf(asked).options).toEqual([
      { label: A, value: A, default: true },
      { label: B, value: B, default: true, description: 'Payroll' },
    ]);
    const here = `2 addresses to watch[\\s\\S]*Already watched here\\*\\*\\n-# .*${TOKEN}`;
    expect(textOf(asked)).toMatch(new RegExp(here));
    expect(textOf(asked)).toMatch(/Skipped\*\*\n- `0x0{20,}.*zero address/);

    await world.restart();
    const done = await world.choose(asked, [A, B]);
    expect(textOf(done)).toMatch(/Watching 2 more addresses[\s\S]*One more step/);
    const place = { channelId: harbor.alerts, createdBy: seed.ada };
    expect((await all()).slice(1)).toMatchObject([A, B].map((address) => ({ address: lower(address), ...place })));
    expect(buttonsOf(done)).toEqual(['subscription:list:all:0']);
  });

  it('reads addresses in a forwarded message and in embeds', async () => {
    const id = say('Look');
    const { message } = world.discord.messages(harbor.alerts).find((one) => one.id === id)!;
    const forwarded = { ...message, content: `Pay ${A}`, embeds: [{ description: B }] };
    Object.assign(message, {
      message_reference: { type: 1, message_id: '1', channel_id: harbor.general },
      message_snapshots: [{ message: forwarded }],
    });
    expect(menuOf(await world.useOn(id, WATCH)).options.map(({ value }) => value)).toEqual([A, B]);
  });

  it('warns of an address in a message that could be mistaken for a watched one', async () => {
    await world.subscribe({ label: 'Treasury' });
    const asked = await on(`Send it to ${LIKE_A} please, and to ${B}`);
    expect(textOf(asked)).toMatch(new RegExp(`Look-alike: this is not Treasury[\\s\\S]*${LIKE_A}[\\s\\S]*${A}`));
    expect(menuOf(asked).options.map(({ value, description }) => [value, description ?? ''])).toEqual([
      [LIKE_A, expect.stringContaining('Looks like a known address')],
      [B, expect.not.stringContaining('Looks like')],
    ]);
    expect(textOf(await world.choose(asked, [LIKE_A]))).toMatch(/Watching 1 more address[\s\S]*this is not Treasury/);
  });

  it('reads addresses in an alert', async () => {
    await world.subscribe({ channelId: harbor.whales });
    await world.use('subscription test', { subscription: A });
    const [message] = world.discord.messages(harbor.whales);
    const asked = await world.useOn(message!.message.id, WATCH, { in: harbor.whales });
    expect(textOf(asked)).toMatch(new RegExp(`Already watched here\\*\\*\\n-# .*${A}`));
    expect(menuOf(asked).options.map(({ value }) => value)).toEqual([expect.stringMatching(/^0x1{40}$/)]);
  });

  it('watches all addresses of a message on one press, also more than a menu has room for', async () => {
    const many = Array.from({ length: 27 }, (_, n) => `0x${(n + 16).toString(16).padStart(40, 'd')}`);
    const asked = await on(many.join(' '));
    expect(textOf(asked)).toMatch(/27 addresses to watch[\s\S]*…and 2 more[\s\S]*Dry run/);
    await world.press(asked, 'subscription:group');
    expect(await all()).toHaveLength(27);
  });

  it('takes the text before each address of a list as its name, unless it has one', async () => {
    await world.name(TOKEN, 'HUSD');
    const asked = await on(`Our wallets:\n- Treasury: ${A}\n- **Ops** ${B}\n- Stablecoin ${TOKEN}`);
    expect(textOf(asked)).toMatch(/\*\*Treasury\*\*[\s\S]*\*\*Ops\*\*[\s\S]*\*\*HUSD\*\*/);
    expect(await all()).toEqual([]);
    await world.press(asked, 'subscription:group');
    expect((await all()).map(({ label }) => label)).toEqual(['Treasury', 'Ops', 'HUSD']);
  });

  it('reports that a message has nothing to watch', async () => {
    expect(textOf(await on('Good morning'))).toContain('No address to watch');
    await world.subscribe();
    expect(textOf(await on(`Again ${A}`))).toMatch(/Nothing new to watch here[\s\S]*Already watched here/);
  });

  it('keeps to the limit of subscriptions for chosen addresses, and refuses those that cannot be watched', async () => {
    const asked = await on(`${A} ${B}`);
    const more = await on(B);
    world.configure({ maxSubscriptions: 1 });
    const done = await world.choose(asked, [A, B, `0x${'e'.repeat(40)}`]);
    expect(textOf(done)).toMatch(new RegExp(`Watching 1 more[\\s\\S]*Not added.*limit \\(1\\)\\*\\*\\n-# .*${B}`));
    expect(textOf(await world.choose(more, [B]))).toMatch(/reached its limit of 1 subscription\./);
    expect(await all()).toHaveLength(1);
  });

  it('adds no address that somebody else just added', async () => {
    const asked = await on(`${A} ${B}`);
    await world.subscribe();
    expect(textOf(await world.choose(asked, [A]))).toMatch(/Nothing new to watch here[\s\S]*Already watched here/);
    expect(await all()).toHaveLength(1);
  });

  it('refuses a channel where alerts cannot be posted', async () => {
    world.discord.act({ do: 'channel.forbid', channelId: harbor.whales, permissions: ['EmbedLinks'] });
    const answer = await world.useOn(say(A, harbor.whales), WATCH, { in: harbor.whales });
    world.discord.act({ do: 'channel.allow', channelId: harbor.whales });
    expect(textOf(answer)).toMatch(/missing \*\*Embed Links/);
  });
});
