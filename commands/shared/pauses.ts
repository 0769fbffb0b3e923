import type { SendingPause } from '../../src/domain/sending-pause.ts';
import type { Translate } from '../../src/languages/index.ts';
import { firstOf, relativeTime } from './reply.ts';

const PAUSE = {
  token: 'status.pauseToken',
  breaker: 'status.pauseBreaker',
  rate: 'status.pauseRate',
  retry: 'status.pauseRetry',
  burst: 'status.pauseBurst',
} as const;

/** Why due alerts are not sent now, one line each. What holds up all channels hides what holds up single ones. */
export function pauseLines(pauses: readonly SendingPause[], t: Translate): string[] {
  const all = pauses.filter(({ channelId }) => channelId === null);
  return firstOf(t, all.length > 0 ? all : pauses, 5, ({ channelId, reason, until }) => {
    const words = t(PAUSE[reason], { due: relativeTime(until) });
    return channelId === null ? words : `<#${channelId}>: ${words}`;
  });
}
