import { describe, expect, it } from 'vitest';
import { createCooldown, createGuildQueue } from '../../commands/shared/fair-use.ts';
import { forFile } from '../for-file.ts';
import { seed, startWorld, TOKEN, textOf } from './world.ts';

const world = await forFile(startWorld());
const START = 1_800_000_000_000;

it('lets a person make five lookups at once, then one every six seconds', () => {
  let now = START;
  const { take } = createCooldown(() => now);
  const ask = (user = 'ada') => take('explorer', 'harbor', user);
  for (let n = 0; n < 5; n++) expect(ask()).toBeNull();
  expect(ask()).toEqual({ who: 'person', until: START + 6_000 });
  expect(ask('max')).toBeNull();
  now += 6_000;
  expect([ask(), ask()]).toEqual([null, { who: 'person', until: START + 12_000 }]);
});

it('limits the members of one server together, and no other server’s', () => {
  const { take } = createCooldown(() => START);
  for (let n = 0; n < 20; n++) expect(take('explorer', 'harbor', String(n))).toBeNull();
  expect(take('explorer', 'harbor', 'another')).toEqual({ who: 'server', until: START + 2_000 });
  expect(take('explorer', 'orchid', 'another')).toBeNull();
  expect(take('discovery', 'harbor', 'another')).toBeNull();
});

it('limits the lookups of all servers together, so that the explorer has room for the spam guard', () => {
  const { take } = createCooldown(() => START);
  const asked = Array.from({ length: 40 }, (_, n) => take('explorer', `guild ${n}`, `user ${n}`)?.who ?? null);
  expect(asked.filter((who) => who === null)).toHaveLength(30);
  expect(asked.at(-1)).toBe('all');
});

it('lets people search the directory more often than the explorer', () => {
  const { take } = createCooldown(() => START);
  for (let n = 0; n < 20; n++) expect(take('discovery', 'harbor', 'ada')).toBeNull();
  expect(take('discovery', 'harbor', 'ada')).toEqual({ who: 'person', until: START + 2_000 });
  expect(take('explorer', 'harbor', 'ada')).toBeNull();
});

describe('lookups by commands', () => {
  /** Limits lookups as the bot does. The explorer responds like this. */
  function limitLookUps(response: { status: 'not-found' | 'limited' }) {
    const asked = { count: 0 };
    const token = async (_: unknown, beforeCall?: () => void) => {
      beforeCall?.();
      asked.count++;
      return response;
    };
    world.replace({ explorer: { token }, cooldown: createCooldown(world.services.now) });
    return asked;
  }

  it('refuses /token without a lookup to the person who asked too often, with the time of the next try, and to nobody else', async () => {
    const lookUps = limitLookUps({ status: 'not-found' });
    for (let n = 0; n < 5; n++) await world.use('token', { address: TOKEN });
    expect(textOf(await world.use('token', { address: TOKEN }))).toMatch(/many lookups. Try again <t:\d+:R>/);
    expect(lookUps.count).toBe(5);
    await world.use('token', { address: TOKEN }, { as: seed.max });
    expect(lookUps.count).toBe(6);
  });

  it('makes no lookups of people for a minute after the explorer limited one', async () => {
    const lookUps = limitLookUps({ status: 'limited' });
    for (const as of [seed.ada, seed.max]) {
      expect(textOf(await world.use('token', { address: TOKEN }, { as }))).toContain('rate-limiting');
    }
    expect(lookUps.count).toBe(1);
    world.clock.advance(60_000);
    await world.use('token', { address: TOKEN }, { as: seed.max });
    expect(lookUps.count).toBe(2);
  });
});

it('makes a server that asks repeatedly wait for itself, and no other server for it', async () => {
  const begun: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<string>>();
  const queue = createGuildQueue();
  const ask = (guildId: string, name: string) =>
    queue.run(guildId, 'read', () => {
      begun.push(name);
      const gate = Promise.withResolvers<string>();
      gates.set(name, gate);
      return gate.promise;
    });
  const [first, second, third] = [ask('1', 'a'), ask('1', 'b'), ask('1', 'c')];
  const other = ask('2', 'd');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'd']);
  gates.get('d')!.resolve('D');
  expect(await other).toBe('D');
  // One that fails gives its turn up as well.
  gates.get('a')!.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  expect(begun).toEqual(['a', 'd', 'b']);
  gates.get('b')!.resolve('B');
  expect(await second).toBe('B');
  gates.get('c')!.resolve('C');
  expect(await third).toBe('C');
});
