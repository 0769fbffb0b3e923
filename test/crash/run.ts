import { isPostgresMissing, startPostgres } from '../store/postgres/server.ts';
import { crash } from './crash.ts';
import { postgresEngine, sqliteEngine } from './engines.ts';

/**
 * `npm run test:crash -- <rounds> [postgres]`: exit code 1 when anything acknowledged was lost or anything was posted
 * twice, 64 for an unknown argument.
 */

const [wanted = '200', engine] = process.argv.slice(2);
const rounds = Number(wanted);
if (!Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write('How many rounds? A whole number from 1, for example: npm run test:crash -- 200\n');
  process.exit(64);
}
if (engine !== undefined && engine !== 'postgres') {
  process.stderr.write(
    'Which engine? postgres, or nothing for SQLite, for example: npm run test:crash -- 20 postgres\n',
  );
  process.exit(64);
}
const isPostgres = engine === 'postgres';
if (isPostgres && isPostgresMissing()) process.exit(69);
const server = isPostgres ? await startPostgres() : null;
const url = (await server?.createDatabase()) ?? null;
const begun = Date.now();
const verdict = await crash(rounds, {
  engineIn: url === null ? sqliteEngine : () => postgresEngine(url),
  onRound(round) {
    if (round % 10 === 0)
      process.stdout.write(`${round} of ${rounds} rounds, ${Math.round((Date.now() - begun) / 1_000)} s\n`);
  },
});
await server?.[Symbol.asyncDispose]();
for (const [point, times] of [...verdict.points].sort()) process.stdout.write(`killed at ${point}: ${times}\n`);
for (const problem of verdict.problems.slice(-20)) process.stdout.write(`${problem}\n`);
const { acknowledged, shown, lost, doubled, points, problems } = verdict;
process.stdout.write(
  `${rounds} rounds, ${points.size} named points · ` +
    `acknowledged ${acknowledged}, shown ${shown}, lost ${lost}, doubled ${doubled}\n`,
);
process.exit(problems.length > 0 ? 1 : 0);
