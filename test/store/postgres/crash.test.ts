import { expect, it, onTestFinished } from 'vitest';
import { crash } from '../../crash/crash.ts';
import { postgresEngine } from '../../crash/engines.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

it.skipIf(isPostgresMissing())(
  'shows everything acknowledged, and nothing twice, after 4 kills of a bot on Postgres',
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const url = await server.createDatabase();
    const { acknowledged, shown, lost, doubled, problems } = await crash(4, { engineIn: () => postgresEngine(url) });
    expect({ shown, lost, doubled, problems }).toEqual({ shown: acknowledged, lost: 0, doubled: 0, problems: [] });
    expect(acknowledged).toBeGreaterThan(4);
  },
  900_000,
);
