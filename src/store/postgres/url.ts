import { readFileSync } from 'node:fs';
import pg from 'pg';
import { ConfigError } from '../../errors.ts';

/** Types of Postgres whose values fit into a number here: bigint (times, ids, counts) and numeric (sums of these). */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/**
 * What `pg` needs to connect to a `postgres://` URL. Connections to other machines use TLS, and the certificate is
 * verified, unless the URL says `sslmode=disable` or `sslmode=no-verify`; `sslrootcert` names a file with the CA's
 * certificate. Throws a {@link ConfigError}.
 */
export function clientConfig(text: string): pg.ClientConfig {
  const url = new URL(text);
  const mode = url.searchParams.get('sslmode');
  const root = url.searchParams.get('sslrootcert');
  for (const name of ['sslmode', 'sslrootcert']) url.searchParams.delete(name);
  return {
    connectionString: url.href,
    ssl: tlsOf(mode ?? (isHere(url) ? 'disable' : 'verify-full'), root),
    application_name: 'ledgerbell',
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
    types,
  };
}

/** A URL without its password and settings, for the log. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  url.password = '';
  url.search = '';
  return url.href;
}

/** This machine, or a socket's folder. */
const isHere = ({ hostname, searchParams }: URL): boolean =>
  /^(|localhost|127\..*|\[::1\]|%2F.*)$/i.test(hostname) || (searchParams.get('host') ?? '').startsWith('/');

function tlsOf(mode: string, root: string | null): pg.ClientConfig['ssl'] {
  if (mode === 'disable') return false;
  if (mode === 'no-verify') return { rejectUnauthorized: false };
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new ConfigError(
      `DATABASE_URL: sslmode=${mode} does not verify the server. Use verify-full, or disable for a network you trust.`,
    );
  }
  try {
    return root === null ? true : { ca: readFileSync(root, 'utf8') };
  } catch (error) {
    throw new ConfigError(`DATABASE_URL: sslrootcert cannot be read: ${(error as Error).message}.`);
  }
}
