import { afterEach, describe, expect, it } from 'vitest';
import { FOREVER } from '../../src/domain/subscription.ts';
import { forFile } from '../for-file.ts';
import { seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const world = await forFile(startWorld());
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);

describe('/subscription pause, resume, mute', () => {
  it('pauses and resumes a subscription', async () => {
    const { id } = await world.subscribe();
    expect(await world.read('subscription pause', { subscription: String(id) })).toContain('Paused');
    expect(await all()).toMatchObject([{ paused: true }]);
    expect(await world.read('subscription resume', { subscription: String(id) })).toContain('Resumed');
    expect(await all()).toMatchObject([{ paused: false }]);
  });

  it('mutes one or all subscriptions for a while, and unmutes them', async () => {
    const { id } = await world.subscribe();
    await world.subscribe({ channelId: harbor.whales });
    const now = world.clock.now();
    await world.use('subscription mute', { subscription: String(id), duration: '8h' });
    expect((await all()).map(({ mutedUntil }) => mutedUntil)).toEqual([now + 8 * 3_600_000, null]);
    expect(await world.read('subscription list')).toContain('🔕 muted');
    const every = await world.use('subscription mute', { subscription: 'all', duration: '7d' });
    expect(textOf(every)).toContain('2 subscriptions');
    expect((await all()).map(({ mutedUntil }) => mutedUntil)).toEqual([now + 168 * 3_600_000, now + 168 * 3_600_000]);
    const wrong = await world.use('subscription mute', { subscription: 'all', duration: '2h' });
    expect(textOf(wrong)).toMatch(/`duration` must be one of `1h`/);
    await world.use('subscription mute', { subscription: 'all', duration: 'constructor' });
    expect((await all())[0]).toMatchObject({ mutedUntil: now + 168 * 3_600_000 });
    await world.use('subscription mute', { subscription: 'all', duration: 'off' });
    expect((await all()).map(({ mutedUntil }) => mutedUntil)).toEqual([null, null]);
  });

  it('undoes a mute of all and of a token with a button, and says if nothing was muted', async () => {
    await world.subscribe();
    await world.subscribe({ channelId: harbor.whales });
    const every = await world.use('subscription mute', { subscription: 'all', duration: '7d' });
    expect(textOf(await world.press(every, 'subscription:mute:all:off'))).toContain('Unmuted 2 subscriptions');
    const again = await world.read('subscription mute', { subscription: 'all', duration: 'off' });
    expect(again).toMatch(/^🔔 No subscription was muted/);
    const subscription = String((await all())[0]!.id);
    const neverMuted = await world.read('subscription mute', { subscription, duration: 'off' });
    expect(neverMuted).toContain('was not muted');
    expect(neverMuted).not.toContain('back on');
    expect(await world.read('subscription resume', { subscription })).toContain('Nothing changed');
    const token = { subscription: 'all', token: TOKEN };
    const one = await world.use('subscription mute', { ...token, duration: '8h' });
    expect(textOf(await world.press(one, `subscription:mute:${TOKEN}:off`))).toContain('Alerts about it are back on');
    expect(await world.store.subscriptions.tokenMutes(harbor.id, 0)).toEqual([]);
    expect(await world.read('subscription mute', { ...token, duration: 'off' })).toContain('was not muted');
  });

  it('mutes and unmutes for a manager only what they see, and counts the others', async () => {
    await world.makeManager(seed.noa);
    const hidden = await world.subscribe({ channelId: harbor.treasury, label: 'Secret' });
    const who = { as: seed.noa };
    const alone = await world.read('subscription mute', { subscription: 'all', duration: '1h' }, who);
    expect(alone).toMatch(/1 subscription in a channel that you can’t see is not included/);
    const seen = await world.subscribe({ channelId: harbor.whales });
    const mutes = async () => new Map((await all()).map(({ id, mutedUntil }) => [id, mutedUntil]));
    const muted = await world.read('subscription mute', { subscription: 'all', duration: '1h' }, who);
    expect(muted).toMatch(
      /Muted 1 subscription\n(.*\n)*1 subscription in a channel that you can’t see is not included/,
    );
    expect(muted).not.toContain('Secret');
    const until = world.clock.now() + 3_600_000;
    expect(await mutes()).toEqual(
      new Map([
        [hidden.id, null],
        [seen.id, until],
      ]),
    );
    await world.use('subscription mute', { subscription: 'all', duration: '1h' });
    await world.use('subscription mute', { subscription: 'all', duration: 'off' }, who);
    expect(await mutes()).toEqual(
      new Map([
        [hidden.id, until],
        [seen.id, null],
      ]),
    );
  });

  it('promises no alerts for a subscription that stays paused or muted', async () => {
    const { id } = await world.subscribe();
    const subscription = String(id);
    await world.use('subscription mute', { subscription, duration: '8h' });
    await world.use('subscription pause', { subscription });
    const resumed = await world.read('subscription resume', { subscription });
    expect(resumed).toMatch(/No alerts right now: 🔕 muted until <t:/);
    await world.use('subscription pause', { subscription });
    for (const asked of [subscription, 'all']) {
      const unmuted = await world.read('subscription mute', { subscription: asked, duration: 'off' });
      expect(unmuted).toMatch(/right now: ⏸️ paused|No subscription was muted\n1 of them paused/);
    }
    expect(await world.read('subscription edit', { subscription, label: 'Ops' })).toContain('⏸️ paused');
  });

  it('mutes a subscription until somebody unmutes it', async () => {
    const { id } = await world.subscribe();
    const answer = await world.use('subscription mute', { subscription: String(id), duration: 'forever' });
    expect(textOf(answer)).toMatch(/No alerts until you unmute it with `\/subscription mute` and `duration: off`/);
    expect(await world.read('subscription list')).toContain('🔕 muted until someone unmutes it');
    await world.use('subscription mute', { subscription: String(id), duration: 'off' });
    expect(await all()).toMatchObject([{ mutedUntil: null }]);
  });

  it('mutes a token in the whole server until a shown time, and unmutes it', async () => {
    await world.subscribe();
    const ends = Math.floor((world.clock.now() + 86_400_000) / 1_000);
    const mute = (duration: string, token: string, subscription = 'all') =>
      world.use('subscription mute', { subscription, duration, token });
    const muted = textOf(await mute('1d', TOKEN));
    expect(muted).toContain(`\`${TOKEN}\``);
    expect(muted).toContain(
      `No channel in this server gets alerts about it until <t:${ends}:f>. Payments out are still posted.`,
    );
    await mute('forever', 'native');
    const now = world.clock.now();
    expect(await world.store.subscriptions.tokenMutes(harbor.id, now)).toEqual([
      { token: TOKEN.toLowerCase(), until: now + 86_400_000 },
      { token: 'native', until: FOREVER },
    ]);
    expect(await world.store.subscriptions.tokenMutes(orchid.id, now)).toEqual([]);
    expect(await world.read('subscription list')).toMatch(
      new RegExp(`Muted tokens\n- .*${TOKEN}.* until <t:${ends}:f>\n- the native coin until you unmute it`),
    );
    const all = await world.read('subscription mute', { subscription: 'all', duration: 'off' });
    expect(all).toMatch(/These tokens are still muted.*\n- .*\n- the native coin until you unmute it/);
    await mute('off', TOKEN);
    await mute('off', 'native');
    expect(await world.store.subscriptions.tokenMutes(harbor.id, now)).toEqual([]);
    expect(textOf(await mute('1d', TOKEN, '1'))).toMatch(/muted in the whole server. Choose `all`.*`exclude-tokens`/);
  });

  it('reports that there is nothing to mute', async () => {
    expect(await world.read('subscription mute', { subscription: 'all', duration: '1h' })).toMatch(/nothing to mute/);
  });
});
