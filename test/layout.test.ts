import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, LEVELS, roomOf } from './levels.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** Rooms outside the bot: they see the domain's rules and each other as listed, and the bot never imports them. */
const BESIDE: Record<string, string[]> = {
  services: ['src/domain'],
  sandbox: ['src/domain', 'services'],
};

const RUNS_THE_BOT = 'sandbox/bot-main.ts';

const SOURCES = ['src', 'commands', 'services', 'sandbox'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

/** Tests reach data through the port. Who may know the database's tables nevertheless, and why. */
const KNOW_TABLES: Record<string, string> = {
  'test/store/sqlite': 'tests of this implementation, and what other tests do to its file and break in it',
  'test/store/postgres': 'starts the server, and reads what its tests break',
  'test/services/migrations.test.ts': 'writes files as earlier versions wrote them, of the services’ own database',
  'test/mutants': 'runs the store in the thread of its mutants',
  'sandbox/postgres.ts': 'starts the server, and asks it for its version',
  'bench/database.ts': 'counts what waits, outside of the bot that it measures',
};

/** Code that names tables or an engine: SQL, drivers, and the parts of an implementation behind `openStore`. */
const TABLE_TALK =
  /better-sqlite3|from 'pg'|\.prepare[<(]|\b(SELECT|INSERT INTO|DELETE FROM|CREATE TABLE|UPDATE \w+ SET) |src\/store\/(?:queries|sqlite|postgres)\/(?!open\.ts|backup\.ts|files\.ts)\w/;

/** Time of its own instead of the clock that is passed in. */
const OWN_TIME =
  /\b(setTimeout|setInterval|Date\.now|performance\.now|systemClock|AbortSignal\.timeout)\b|new Date\(\)/;

/** The files that may use it nevertheless, and why. */
const KEEP_TIME: Record<string, string> = {
  'src/domain/clock.ts': 'is the real clock',
  'src/start.ts': 'ends the process in time, even when nothing else works any longer',
  'src/main.ts': 'keeps the process alive while a command waits for the clock',
  'src/app.ts': 'passes the real time to its parts as an argument',
  'src/discord/chart.ts': 'limits how long a thread really draws',
  'src/receiver/reachability.ts': 'limits a real request',
  'src/upstream/http.ts': 'limits a real request',
  'src/upstream/attachment.ts': 'limits a real request',
  'src/operator/backup.ts': 'is a command of its own, without the bot’s clock',
  'src/operator/check.ts': 'is a command of its own, without the bot’s clock',
  'src/operator/deadletters.ts': 'is a command of its own, without the bot’s clock',
  'src/log.ts': 'measures at the end of the process, where no timer runs any longer',
  'src/routing/router.ts': 'lets the receiver go first for as long as the machine is really busy',
  'src/store/sqlite/database.ts': 'measures how long the disk takes, in a thread that functions do not reach',
  'src/store/sqlite/open.ts': 'measures how long the disk takes',
  'src/store/sqlite/worker.ts': 'looks at the file in a thread that functions do not reach',
  'src/store/postgres/connection.ts': 'measures how long the server takes',
};

const OUTSIDERS = ['test', 'bench', 'sandbox'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/node_modules|^layout\.test/.test(name))
    .map((name) => join(folder, name)),
);
const knowsTables = (path: string) =>
  Object.keys(KNOW_TABLES).some((place) => path === place || path.startsWith(`${place}/`));

const levelOf = (room: string): number => LEVELS.findIndex((rooms) => rooms.includes(room));

function mayImport(room: string, other: string): boolean {
  if (room === other) return true;
  const beside = BESIDE[room];
  if (beside) return beside.includes(other);
  return levelOf(other) !== -1 && levelOf(other) < levelOf(room);
}

describe('layout', () => {
  it('reads the imports of every source file', () => {
    expect(SOURCES).toContain('src/domain/transfer.ts');
    expect(importsOf('src/start.ts')).toContain('src/app.ts');
  });

  it('knows the level of every room', () => {
    const rooms = new Set(SOURCES.map(roomOf));
    expect([...rooms].filter((room) => levelOf(room) === -1 && !(room in BESIDE))).toEqual([]);
  });

  it('draws every room in docs/architecture.md, and no import from a lower box to a higher one', () => {
    const [, picture = ''] = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split('flowchart TB');
    const boxes = [...picture.matchAll(/^ +\w+\["(.+)"\]$/gm)].map(([, text]) =>
      text!.split('<br>').flatMap((line) => line.split(':')[0]!.split(', ')),
    );
    const boxOf = (room: string) => boxes.findIndex((names) => names.includes(/^(?:src\/)?(\w+)/.exec(room)![1]!));
    expect(LEVELS.flat().filter((room) => boxOf(room) === -1)).toEqual([]);
    const rising = SOURCES.filter((path) => !(roomOf(path) in BESIDE)).flatMap((path) =>
      importsOf(path).filter((target) => boxOf(roomOf(target)) < boxOf(roomOf(path))),
    );
    expect(rising).toEqual([]);
  });

  it('lets tests, benches and the sandbox reach data through the port only', () => {
    const talking = OUTSIDERS.filter((path) => TABLE_TALK.test(readFileSync(join(ROOT, path), 'utf8')));
    expect(talking.filter((path) => !knowsTables(path))).toEqual([]);
    const needless = Object.keys(KNOW_TABLES).filter((place) => !talking.some((path) => path.startsWith(place)));
    expect(needless, 'exceptions that nothing needs').toEqual([]);
  });

  it('lets the bot take time from the clock that is passed in only', () => {
    const timing = SOURCES.filter((path) => /^(src|commands)\//.test(path)).filter((path) =>
      OWN_TIME.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(timing.sort()).toEqual(Object.keys(KEEP_TIME).sort());
  });

  it('lets one file write the stored states of channels', () => {
    const writing = SOURCES.filter((path) => !path.startsWith('src/store/')).filter((path) =>
      /\bchannels\.(setState|guildRemoved|guildReturned|syncGuilds)\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(writing).toEqual(['src/delivery/membership.ts']);
  });

  it('lets the contract suite know the port alone', () => {
    const contract = OUTSIDERS.filter((path) => path.startsWith('test/store/contract/'));
    expect(contract.length).toBeGreaterThan(5);
    const wrong = contract.filter((path) =>
      /sqlite|postgres|\bpg\b|better-/i.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('lets no files import each other in a circle, types included', () => {
    const imports = SOURCES.flatMap((path) => importsOf(path).map((target) => ({ path, target })));
    let left = new Set(SOURCES);
    // A file that imports none of the rest, or that none of the rest imports, is in no circle.
    for (let before = left.size + 1; left.size < before; ) {
      before = left.size;
      const among = imports.filter(({ path, target }) => left.has(path) && left.has(target));
      const imported = new Set(among.map(({ target }) => target));
      left = new Set(among.map(({ path }) => path).filter((path) => imported.has(path)));
    }
    expect([...left]).toEqual([]);
  });

  it.each(SOURCES.map((path) => [path]))('lets %s import only its own room and the levels below', (path) => {
    const wrong = importsOf(path).filter((target) => path !== RUNS_THE_BOT && !mayImport(roomOf(path), roomOf(target)));
    expect(wrong, `${path} is on level ${levelOf(roomOf(path))} (${roomOf(path)})`).toEqual([]);
  });
});
