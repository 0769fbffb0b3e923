import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../src/store/sqlite/database.ts';
import { openTables, type Tables } from '../../src/store/sqlite/tables.ts';

let dir: string;
let open: OpenDatabase;
let projects: Tables['projects'];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerbell-projects-'));
  open = openDatabase(join(dir, 'test.sqlite'));
  projects = openTables(open.db).projects;
});
afterEach(() => {
  open.close();
  rmSync(dir, { recursive: true });
});

const save = (guildId: string, projectId: string, token: string) =>
  projects.save({ guildId, projectId, sealed: Buffer.from(projectId) }, token, 'ada', 1);
const tokens = () =>
  projects.tokens().map(({ token, scope, retiring }) => `${scope} ${token}${retiring ? ' (old)' : ''}`);

it('a replaced project keeps its scope and its receiver token; each server has its own', () => {
  const first = save('g1', 'one', 't1');
  const second = save('g2', 'two', 't2');
  expect(save('g1', 'other', 't3')).toBe(first);
  expect(projects.ofGuild('g1')).toMatchObject({ scope: first, projectId: 'other' });
  expect(tokens()).toEqual([`${first} t1`, `${second} t2`]);
  expect([...projects.scopes()]).toEqual([
    ['g1', first],
    ['g2', second],
  ]);
});

it('a scope is never used again, so a late event of a removed project reaches nobody', () => {
  const first = save('g1', 'one', 't1');
  projects.nameWebhook('g1', 'w', 'Main');
  expect(projects.remove('g1')).toBe(true);
  expect(projects.remove('g1')).toBe(false);
  expect(projects.ofGuild('g1')).toBeNull();
  expect(tokens()).toEqual([]);
  expect(projects.webhookNames('g1').size).toBe(0);
  expect(save('g2', 'two', 't2')).toBeGreaterThan(first);
});

it('an old token stays valid until it is revoked, and a third one must wait for that', () => {
  const scope = save('g1', 'one', 't1');
  expect(projects.rotateToken(scope, 't2', 2)).toBe(true);
  expect(tokens()).toEqual([`${scope} t1 (old)`, `${scope} t2`]);
  expect(projects.rotateToken(scope, 't3', 3)).toBe(false);
  expect(projects.revokeToken(scope)).toBe(true);
  expect(projects.revokeToken(scope)).toBe(false);
  expect(tokens()).toEqual([`${scope} t2`]);
});

it('a new seal does not overwrite keys that were replaced meanwhile', () => {
  save('g1', 'one', 't1');
  const before = projects.ofGuild('g1')!;
  save('g1', 'two', 't1');
  projects.reseal(before, Buffer.from('stale'));
  expect(Buffer.from(projects.ofGuild('g1')!.sealed).toString()).toBe('two');
});

it('what is done for one server leaves the others alone', () => {
  const [one, two] = [save('g1', 'one', 'a1'), save('g2', 'two', 'b1')];
  for (const [guild, webhook] of [
    ['g1', 'w'],
    ['g1', 'v'],
    ['g2', 'w'],
  ] as const)
    projects.nameWebhook(guild, webhook, `${webhook} of ${guild}`);
  projects.nameWebhook('g1', 'v', 'another name');
  projects.nameWebhook('g1', 'w', null);
  const names = () => ['g1', 'g2'].map((guild) => [...projects.webhookNames(guild)]);
  expect(names()).toEqual([[['v', 'another name']], [['w', 'w of g2']]]);

  expect(projects.rotateToken(one, 'a2', 2)).toBe(true);
  expect(tokens()).toEqual([`${one} a1 (old)`, `${one} a2`, `${two} b1`]);
  expect(projects.rotateToken(two, 'b2', 2)).toBe(true);
  expect(projects.revokeToken(one)).toBe(true);
  save('g2', 'two', 'b3');
  expect(tokens()).toEqual([`${one} a2`, `${two} b1 (old)`, `${two} b2`]);

  projects.reseal(projects.ofGuild('g1')!, Buffer.from('anew'));
  expect(projects.all().map(({ sealed }) => Buffer.from(sealed).toString())).toEqual(['anew', 'two']);

  expect(projects.remove('g1')).toBe(true);
  expect(tokens()).toEqual([`${two} b1 (old)`, `${two} b2`]);
  expect(names()).toEqual([[], [['w', 'w of g2']]]);
  expect(projects.ofGuild('g2')).toMatchObject({ scope: two });
});
