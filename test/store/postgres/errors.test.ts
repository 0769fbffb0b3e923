import pg from 'pg';
import { expect, it } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { HOUR, MINUTE } from '../../../src/domain/durations.ts';
import { createFailures } from '../../../src/store/postgres/errors.ts';

const NO_SPACE = 'could not extend file "base/16384/16396": No space left on device';

/** The error of a server whose disk is full. */
const diskFull = () => Object.assign(new pg.DatabaseError(NO_SPACE, 0, 'error'), { severity: 'ERROR', code: '53100' });
/** The error of a connection to a server that has stopped. */
const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

const UNREACHABLE = 'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:5432';

it('goes on naming a full disk after a small write that needed no new space', () => {
  const { clock, message, failures } = start();
  expect(message(diskFull())).toBe(`The disk of the database server is full: ${NO_SPACE}`);
  clock.advance(MINUTE - 1);
  failures.wrote();
  expect(message(refused())).toBe(`${UNREACHABLE}; before that, its disk was full: ${NO_SPACE}`);
});

it('names a full disk for as long as nothing can be written', () => {
  const { clock, message } = start();
  message(diskFull());
  for (let hour = 0; hour < 3; hour++) {
    clock.advance(HOUR - 1);
    expect(message(refused())).toBe(`${UNREACHABLE}; before that, its disk was full: ${NO_SPACE}`);
  }
});

it('forgets a full disk that no failure named for an hour, also in a process that writes nothing', () => {
  const { clock, message } = start();
  message(diskFull());
  clock.advance(HOUR);
  expect(message(refused())).toBe(`${UNREACHABLE}.`);
});

it('forgets a full disk when something is written a minute after the last failure that named it', () => {
  const { clock, message, failures } = start();
  message(diskFull());
  clock.advance(MINUTE);
  message(diskFull());
  clock.advance(MINUTE - 1);
  failures.wrote();
  expect(message(refused())).toContain('its disk was full');
  clock.advance(1);
  failures.wrote();
  expect(message(refused())).toBe(`${UNREACHABLE}.`);
});

function start() {
  const clock = createManualClock();
  const failures = createFailures(clock.now);
  return { clock, failures, message: (error: Error) => (failures.word(error).error as Error).message };
}
