import { startPostgres } from '../test/store/postgres/server.ts';
import { newFolder } from './children.ts';
import { fill } from './postgres/fill.ts';
import { report } from './table.ts';
import { CHANNELS, holdRates, SUBSCRIPTIONS } from './whole.ts';

const PER_SECOND = 1_000;
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

/** The whole way on Postgres, with `fsync`: whether 1,000 events a second (BENCH_SECONDS=60) leave no backlog. */
export async function postgres(): Promise<void> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '1GB', max_wal_size: '4GB' });
  using folder = newFolder();
  const url = await server.createDatabase();
  await fill(url, SUBSCRIPTIONS, CHANNELS);
  const rows = await holdRates(folder.path, [PER_SECOND], { DATABASE_URL: url, SECRETS_KEY });
  report('the whole way on Postgres', rows);
}
