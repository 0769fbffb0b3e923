import { afterEach, describe, expect, it } from 'vitest';
import { HOUR } from '../../src/domain/clock.ts';
import { FOREVER } from '../../src/domain/subscription.ts';
import { forFile } from '../for-file.ts';
import { A, B, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);
const mutes = async () => (await all()).map(({ mutedUntil }) => mutedUntil);
const mute = (duration: string, subscription = 'all', who = {}) =>
  world.read('subscription mute', { subscription, duration }, who);
const pause = (subscription: string) => world.read('subscription pause', { subscription });
const resume = (subscription: string) => world.read('subscription resume', { subscription });

describe('/subscription pause, resume, mute', () => {
  it('pauses and resumes a subscription', async () => {
    await world.subscribe();
    expect(await pause(A)).toContain('Paused');
    expect(await all()).toMatchObject([{ paused: true }]);
    expect(await resume(A)).toContain('Resumed');
    expect(await all()).toMatchObject([{ paused: false }]);
    expect(await resume(A)).toContain('Nothing changed');
  });

  it('mutes one or all subscriptions for a while or until somebody unmutes them', async () => {
    const { id } = await world.subscribe();
    await world.subscribe({ channelId: harbor.whales });
    const now = world.clock.now();
    await mute('8h', String(id));
    expect(await mutes()).toEqual([now + 8 * HOUR, null]);
    expect(await world.read('subscription list')).toContain('🔕 muted');
    expect(await mute('7d')).toContain('2 subscriptions');
    expect(await mutes()).toEqual([now + 168 * HOUR, now + 168 * HOUR]);
    expect(await mute('2h')).toMatch(/`duration` must be one of `1h`/);
    await mute('constructor');
    expect(await mutes()).toEqual([now + 168 * HOUR, now + 168 * HOUR]);
    const forever = await mute('forever', String(id));
    expect(forever).toMatch(/No alerts until you unmute it with `\/subscription mute` and `duration: off`/);
    expect(await world.read('subscription list')).toContain('🔕 muted until someone unmutes it');
    await mute('off');
    expect(await mutes()).toEqual([null, null]);
  });

  it('undoes a mute of all and of a token with a button, and says if nothing was muted', async () => {
    const subscription = String((await world.subscribe()).id);
    await world.subscribe({ channelId: harbor.whales });
    const every = await world.use('subscription mute', { subscription: 'all', duration: '7d' });
    expect(textOf(await world.press(every, 'subscription:mute:all:off'))).toContain('Unmuted 2 subscriptions');
    expect(await mute('off')).toMatch(/^🔔 No subscription was muted/);
    expect(await mute('off', subscription)).toMatch(/^(?!.*back on).*was not muted/s);
    const token = { subscription: 'all', token: TOKEN };
    const one = await world.use('subscription mute', { ...token, duration: '8h' });
    expect(textOf(await world.press(one, `subscription:mute:${TOKEN}:off`))).toContain('Alerts about it are back on');
    expect(await world.store.subscriptions.tokenMutes(harbor.id, 0)).toEqual([]);
    expect(await world.read('subscription mute', { ...token, duration: 'off' })).toContain('was not muted');
  });

  it('mutes and unmutes for a manager only what they see, and counts the others', async () => {
    await world.makeManager(seed.noa);
    const who = { as: seed.noa };
    const unseen = '1 subscription in a channel that you can’t see is not included';
    await world.subscribe({ channelId: harbor.treasury, address: lower(B), label: 'Secret' });
    expect(await mute('1h', 'all', who)).toContain(unseen);
    await world.subscribe();
    const muted = await mute('1h', 'all', who);
    expect(muted).toMatch(new RegExp(`Muted 1 subscription\n(.*\n)*${unseen}`));
    expect(muted).not.toContain('Secret');
    const until = world.clock.now() + HOUR;
    expect(await mutes()).toEqual([until, null]);
    await mute('1h');
    await mute('off', 'all', who);
    expect(await mutes()).toEqual([null, until]);
  });

  it('promises no alerts for a subscription that stays paused or muted', async () => {
    await world.subscribe();
    await mute('8h', A);
    await pause(A);
    expect(await resume(A)).toMatch(/No alerts right now: 🔕 muted until <t:/);
    await pause(A);
    expect(await mute('off', A)).toContain('right now: ⏸️ paused');
    expect(await mute('off')).toContain('No subscription was muted\n1 of them paused');
    const edited = await world.read('subscription edit', { subscription: A, label: 'Ops' });
    expect(edited).toContain('⏸️ paused');
  });

  it('mutes a token in the whole server until a shown time, and unmutes it', async () => {
    await world.subscribe();
    const now = world.clock.now();
    const ends = Math.floor((now + 24 * HOUR) / 1_000);
    const muteToken = (duration: string, token: string, subscription = 'all') =>
      world.read('subscription mute', { subscription, duration, token });
    const muted = await muteToken('1d', TOKEN);
    expect(muted).toContain(`\`${TOKEN}\``);
    expect(muted).toContain(
      `No channel in this server gets alerts about it until <t:${ends}:f>. Payments out are still posted.`,
    );
    await muteToken('forever', 'native');
    expect(await world.store.subscriptions.tokenMutes(harbor.id, now)).toEqual([
      { token: lower(TOKEN), until: now + 24 * HOUR },
      { token: 'native', until: FOREVER },
    ]);
    expect(await world.store.subscriptions.tokenMutes(orchid.id, now)).toEqual([]);
    expect(await world.read('subscription list')).toMatch(
      new RegExp(`Muted tokens\n- .*${TOKEN}.* until <t:${ends}:f>\n- the native coin until you unmute it`),
    );
    expect(await mute('off')).toMatch(/These tokens are still muted.*\n- .*\n- the native coin until you unmute it/);
    for (const token of [TOKEN, 'native']) await muteToken('off', token);
    expect(await world.store.subscriptions.tokenMutes(harbor.id, now)).toEqual([]);
    const alone = await muteToken('1d', TOKEN, '1');
    expect(alone).toMatch(/muted in the whole server. Choose `all`.*`exclude-tokens`/);
  });

  it('reports that there is nothing to mute', async () => {
    expect(await mute('1h')).toMatch(/nothing to mute/);
  });
});
