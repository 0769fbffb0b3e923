import { pino } from 'pino';
import { systemClock } from '../../../src/domain/clock.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';

export async function openForTest(url: string) {
  const opened = openPostgres(url, { clock: systemClock, log: pino({ level: 'silent' }) });
  await opened.ready;
  return opened;
}
