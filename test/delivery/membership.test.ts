import pino from 'pino';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { ChannelStates } from '../../src/delivery/channel-states.ts';
import { createMembership } from '../../src/delivery/membership.ts';

const GUILD = '1';

it('stores once a minute that the bot is in a server whose roles change, and at once after a removal or a fault', async () => {
  const clock = createManualClock();
  let stored = 0;
  let fault: Error | null = null;
  const states = {
    async setGuildReturned() {
      stored++;
      if (fault) throw fault;
    },
    setGuildRemoved: async () => undefined,
  } as unknown as ChannelStates;
  const { recordReturn, recordRemoval } = createMembership({
    states,
    clock,
    log: pino({ enabled: false }),
    isClosing: () => false,
  });
  const changes = () => {
    for (let n = 0; n < 50; n++) recordReturn(GUILD);
    return stored;
  };
  expect(changes()).toBe(1);
  clock.advance(59_999);
  expect(changes()).toBe(1);
  clock.advance(1);
  expect(changes()).toBe(2);
  recordRemoval(GUILD);
  fault = new Error('disk I/O error');
  expect(changes()).toBe(3);
  await new Promise(setImmediate);
  fault = null;
  expect(changes()).toBe(4);
});
