import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Given, startUpstream } from '../upstream/server.ts';
import { A, type CommandWorld, isPrivate, RECEIVER_URL, seed, startWorld, textOf } from './world.ts';

const { harbor, orchid } = seed;
let world: CommandWorld;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let list: Given = { body: [] };
beforeAll(async () => {
  upstream = await startUpstream(() => list);
  world = await startWorld({ service: upstream.url });
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

describe('/setup server', () => {
  it('saves what is named, leaves the rest, and shows how it stands', async () => {
    const first = await world.use('setup server', { channel: harbor.whales, manager: harbor.watchers });
    expect(isPrivate(first)).toBe(true);
    expect(textOf(first)).toContain(`<#${harbor.whales}>`);
    await world.use('setup server', { timezone: 'europe/lisbon', language: 'de' });
    expect(await world.store.servers.settings(harbor.id)).toEqual({
      defaultChannel: harbor.whales,
      managerRole: harbor.watchers,
      timezone: 'Europe/Lisbon',
      language: 'de',
    });
    const shown = textOf(await world.use('setup server'));
    for (const part of [`<#${harbor.whales}>`, `<@&${harbor.watchers}>`, 'Europe/Lisbon', 'Deutsch']) {
      expect(shown).toContain(part);
    }
    expect(await world.store.servers.settings(orchid.id)).toMatchObject({ defaultChannel: null, managerRole: null });
  });

  it('refuses an unknown time zone and a channel where it cannot post', async () => {
    expect(textOf(await world.use('setup server', { timezone: 'Mars' }))).toMatch(/`Europe\/Lisbon`/);
    expect(textOf(await world.use('setup server', { channel: harbor.council }))).toMatch(/View Channel/);
  });

  it('offers time zones by city', async () => {
    expect(await world.choices('setup server', 'timezone', { timezone: 'new york' })).toEqual([
      { name: 'America/New_York', value: 'America/New_York' },
    ]);
    expect(await world.choices('setup server', 'timezone')).toHaveLength(25);
  });
});

describe('/setup check', () => {
  it('names each fault with its fix', async () => {
    await world.subscribe({ channelId: harbor.council });
    await world.subscribe({ channelId: '1100000000000099999' });
    world.parts.lastRefused = () => ({ source: '203.0.113.9', at: world.clock.now });
    world.parts.probeReceiver = async () => 'unreachable';
    const text = textOf(await world.use('setup check'));
    expect(text).toMatch(/^6 things to mend/);
    expect(text).toMatch(new RegExp(`❌ <#${harbor.council}>: I am missing \\*\\*View Channel`));
    expect(text).toContain('❌ <#1100000000000099999> is gone');
    expect(text).toMatch(/❌ The receiver does not answer at `https:\/\/bell.example`.*PUBLIC_URL/);
    expect(text).toMatch(/❌ A delivery from `203.0.113.9` was refused.*RECEIVER_SOURCES/);
    expect(text).toContain(`none of its webhooks posts to \`${RECEIVER_URL}\``);
    expect(text).toContain('❌ No event yet for 2 subscriptions');
    expect(text.split(`[\`${A}\`]`)).toHaveLength(2);
  });

  it('is content when everything is right', async () => {
    for (const { id } of await world.store.subscriptions.list(harbor.id)) {
      await world.store.subscriptions.remove(harbor.id, id);
    }
    const { id } = await world.subscribe();
    await world.store.subscriptions.change(harbor.id, id, { lastEventAt: 1 });
    world.parts.lastRefused = () => null;
    world.parts.probeReceiver = async () => 'reachable';
    list = { body: [{ webhookUrl: RECEIVER_URL, eventType: 'ALL' }] };
    const text = textOf(await world.use('setup check'));
    expect(text).toContain('Everything looks right');
    expect(text).not.toContain('❌');
  });

  it('says nothing of the operator’s project elsewhere', async () => {
    world.parts.lastRefused = () => ({ source: '203.0.113.9', at: world.clock.now });
    const answer = await world.use('setup check', {}, { in: orchid.lobby });
    expect(textOf(answer)).toContain('Nothing is watched yet');
    expect(JSON.stringify(answer)).not.toMatch(/receiver-token|203\.0\.113\.9|project/);
  });
});

describe('/status', () => {
  it('shows this server’s figures only', async () => {
    const { id } = await world.subscribe({ channelId: harbor.general });
    await world.store.subscriptions.change(harbor.id, id, { paused: true, lastEventAt: world.clock.now });
    const answer = await world.use('status');
    expect(isPrivate(answer)).toBe(true);
    expect(textOf(answer)).toMatch(/Last event\n<t:\d+:R>/);
    expect(textOf(answer)).toContain('2 subscriptions of 1,000, 1 paused');
    expect(textOf(answer)).toContain('Ledgerbell 1.2.3');
    expect(textOf(await world.use('status', {}, { in: orchid.lobby }))).toMatch(/Last event\nnone yet/);
  });
});
