import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { Reachability } from '../../src/domain/reachability.ts';
import { watchReach } from '../../src/receiver/reach.ts';

it('probes after a minute and then every ten, and logs each change once', async () => {
  const clock = createManualClock();
  const logged: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  let found: Reachability = { status: 'expired' };
  let probes = 0;
  const probe = async () => {
    probes++;
    return found;
  };
  const reach = watchReach({ probe, isRepeated: true, clock, log });
  onTestFinished(() => reach.close());
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  await pass(60_000);
  const since = clock.now();
  await pass(600_000);
  expect([probes, reach.unreachable()]).toEqual([2, { since, reason: 'expired' }]);
  found = { status: 'reachable' };
  await pass(600_000);
  expect(reach.unreachable()).toBeNull();
  expect(logged).toEqual([
    { level: 40, reason: 'expired', msg: 'PUBLIC_URL is not reachable from here' },
    { level: 30, forMs: 1_200_000, msg: 'PUBLIC_URL is reachable again' },
  ]);
});
