import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

const MIB = 1024 * 1024;

describe('the quarantine limit', () => {
  it.each([
    ['operator’s', 'deliveries', TOKEN, 0, 9_999, 1],
    ['operator’s', 'bytes', TOKEN, 0, 1, 50 * MIB - 1],
    ['server’s', 'deliveries', OTHER_TOKEN, 3, 999, 1],
    ['server’s', 'bytes', OTHER_TOKEN, 3, 1, 5 * MIB - 1],
  ])('closes the %s URL while its quarantine has too many %s', async (...given) => {
    const [, , token, scope, rows, bytes] = given;
    const receiver = await startReceiver();
    const db = new Database(receiver.file);
    const setAside = db.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @rows)
     INSERT INTO quarantine (scope, received_at, reason, body) SELECT @scope, 1, 'no JSON', zeroblob(@bytes) FROM n`,
    );
    const post = async () => {
      await receiver.quarantine.measure();
      return (await receiver.post(`/hooks/${token}`, 'x')).status;
    };
    setAside.run({ scope, rows, bytes });
    expect(await post()).toBe(200);
    setAside.run({ scope, rows: 1, bytes: 1 });
    expect(await post()).toBe(503);
    // Other URLs stay open.
    const other = token === TOKEN ? OTHER_TOKEN : TOKEN;
    expect((await receiver.post(`/hooks/${other}`, 'x')).status).toBe(200);
    db.exec('DELETE FROM quarantine WHERE id = 1');
    db.close();
    expect(await post()).toBe(200);
  });
});
