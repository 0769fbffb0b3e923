import { describe, expect, it } from 'vitest';
import { createCooldown } from '../../commands/shared/fair-use.ts';
import { forFile } from '../for-file.ts';
import { seed, startWorld, TOKEN } from './world.ts';

const world = await forFile(startWorld());
const START = 1_800_000_000_000;

it.each([
  { service: 'explorer', who: 'person', most: 5, everyMs: 6_000 },
  { service: 'explorer', who: 'server', most: 20, everyMs: 2_000 },
  // So that scam checks get the rest of what the explorer accepts.
  { service: 'explorer', who: 'all', most: 30, everyMs: 1_000 },
  { service: 'discovery', who: 'person', most: 20, everyMs: 2_000 },
] as const)('lets $who make $most lookups of the $service at once, then one every $everyMs ms', (limit) => {
  const { service, who, most, everyMs } = limit;
  let now = START;
  const { take } = createCooldown(() => now);
  const ask = (n: number) => take(service, who === 'all' ? `guild ${n}` : 'harbor', who === 'person' ? 'ada' : `${n}`);
  for (let n = 0; n < most; n++) expect(ask(n)).toBeNull();
  expect(ask(most)).toEqual({ who, until: START + everyMs });
  // It holds up nobody else, and no other service.
  if (who === 'person') expect(take(service, 'harbor', 'max')).toBeNull();
  if (who === 'server') expect(take(service, 'orchid', 'another')).toBeNull();
  expect(take(service === 'explorer' ? 'discovery' : 'explorer', 'harbor', 'ada')).toBeNull();
  now += everyMs;
  expect([ask(most), ask(most + 1)]).toEqual([null, { who, until: now + everyMs }]);
});

describe('lookups by commands', () => {
  function limitLookUps(response: { status: 'not-found' }) {
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
    expect(await world.read('token', { address: TOKEN })).toMatch(/many lookups. Try again <t:\d+:R>/);
    expect(lookUps.count).toBe(5);
    await world.use('token', { address: TOKEN }, { as: seed.max });
    expect(lookUps.count).toBe(6);
  });
});
