import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { restore } from '../../../src/store/sqlite/backup.ts';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { accepted, startBot, startInVain } from '../../lifecycle/bot.ts';
import { bodiesIn } from './database-file.ts';
import { expectKept, look, makeFile, NEXT_SCHEMA, SCHEMAS } from './earlier-schemas.ts';

/** Every fourth, and the last: each is a real start, killed several times. */
const KILLED = [...SCHEMAS.keys()].filter((version) => version % 4 === 0 || version === SCHEMAS.length - 1);

describe.each(KILLED.map((version) => [version]))('from schema %i', (from) => {
  // The first step is killed at its beginning and at its end; the third kill lets it be done and meets the next. The
  // steps that follow are killed in the same way from the schema that they start from.
  const last = from === SCHEMAS.length - 1;
  const steps = ['migration begun', 'migration uncommitted', ...(last ? [] : ['migration begun@2'])];
  const points = [...(from > 0 ? ['copy written'] : []), ...steps];

  it('leaves a whole schema and every row when killed anywhere, and completes at the next start', async () => {
    const file = makeFile(from);
    const before = look(file);
    for (const point of points) {
      expect([point, (await startInVain(file, { NEXT_SCHEMA, CRASH_POINT: point })).signal]).toEqual([
        point,
        'SIGKILL',
      ]);
      const after = look(file);
      expect(after.sound, `whether the file is sound after a kill at: ${point}`).toBe(true);
      expect(after.version).toBeGreaterThanOrEqual(from);
      if (after.version === from) expect(after).toEqual(before);
      else expectKept(before.rows, after.rows);
    }
    const bot = await startBot(file, { NEXT_SCHEMA });
    const completed = look(file);
    expect([completed.version, completed.sound]).toEqual([SCHEMAS.length, true]);
    expectKept(before.rows, completed.rows);
    await accepted(() => bot.post('more'));

    const copy = `${file}.before-schema-${SCHEMAS.length}`;
    expect(existsSync(`${copy}.partial`), 'whether half a copy is left').toBe(false);
    if (from === 0) return;
    expect(look(copy)).toEqual(before);
    expect(bodiesIn(copy)).toEqual(['kept']);
  });
});

it('keeps a copy of data written between a rolled-back update and the next one', async () => {
  const file = makeFile(MIGRATIONS.length);
  const copy = `${file}.before-schema-${SCHEMAS.length}`;
  const update = async () => {
    const bot = await startBot(file, { NEXT_SCHEMA });
    bot.kill('SIGTERM');
    await bot.ended();
  };
  await update();
  await restore(file, copy, Date.now());
  const db = new Database(file);
  db.exec("INSERT INTO inbox (scope, received_at, body) VALUES (0, 1, CAST('since then' AS BLOB))");
  db.close();
  await update();
  expect(bodiesIn(copy)).toEqual(['since then', 'kept']);
});
