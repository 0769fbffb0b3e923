import { resolve } from 'node:path';
import { z } from 'zod';
import {
  count,
  credential,
  discordUrl,
  given,
  guildIds,
  host,
  ipRanges,
  oneOf,
  openUrl,
  optional,
  port,
  publicUrl,
  ROLES,
  roles,
  sealKeys,
  signingSecrets,
  url,
  withDefault,
} from './config/values.ts';
import { MIB } from './domain/bytes.ts';
import { editDistance } from './domain/edit-distance.ts';
import type { QuotaLimits } from './domain/quota.ts';
import { ConfigError, UserError } from './errors.ts';

/** The addresses of the notification service, from its specification. */
const SOURCES = '35.191.17.80,35.191.17.87,35.191.17.84,35.191.24.103';

/** Whether a database's URL is that of a Postgres. */
export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);

/** One entry per variable; `.env.example` names exactly these. */
const schema = z.object({
  DISCORD_TOKEN: z.preprocess(given, credential('the bot token from the Discord developer portal')),
  DISCORD_API_URL: withDefault(discordUrl, 'https://discord.com/api'),
  HOST: withDefault(host, '127.0.0.1'),
  PORT: withDefault(port, '8080'),
  PUBLIC_URL: optional(publicUrl),
  OPS_HOST: withDefault(host, '127.0.0.1'),
  OPS_PORT: withDefault(port, '9464'),
  DATABASE_URL: withDefault(
    // `sqlite:` is optional. Two slashes are refused, because they could mean a host or the root.
    z
      .string()
      .refine(
        (value) => (isPostgres(value) ? URL.canParse(value) : /^(sqlite:(?!\/\/[^/])|(?!\w+:))./.test(value)),
        'must be sqlite: and a path, like sqlite:data/ledgerbell.sqlite, or a URL like postgres://ledgerbell@db.example/ledgerbell (@ and / before the host as %40 and %2F)',
      ),
    'sqlite:data/ledgerbell.sqlite',
  ),
  ROLES: withDefault(roles, 'receive,work'),
  BACKUP_DIR: optional(z.string().transform((value) => resolve(value))),
  BACKUP_KEEP: withDefault(count(1), '7'),
  SECRETS_KEY: optional(sealKeys),
  RECEIVER_TOKEN: optional(
    z.string().regex(/^[\w-][\w.~-]{15,99}$/, 'must be 16 to 100 letters, digits, _, -, . or ~ (openssl rand -hex 24)'),
  ),
  RECEIVER_SOURCES: withDefault(
    ipRanges.refine(
      ({ entries }) => entries.length > 0,
      'must list IP addresses or CIDR ranges; to turn the check off, leave it out and set RECEIVER_SOURCE_CHECK=off',
    ),
    SOURCES,
  ),
  RECEIVER_SOURCE_CHECK: withDefault(oneOf(['enforce', 'report', 'off'], 'must be enforce, report or off'), 'enforce'),
  TRUSTED_PROXIES: withDefault(ipRanges, ','),
  NOTIFICATION_URL: optional(url),
  NOTIFICATION_PROJECT_ID: optional(z.string()),
  NOTIFICATION_API_KEY: optional(z.string()),
  NOTIFICATION_API_SECRET: optional(credential('the project’s API secret')),
  NOTIFICATION_SIGNING_SECRET: optional(signingSecrets),
  OPERATOR_GUILD_IDS: withDefault(guildIds, ','),
  EXPLORER_API_URL: optional(url),
  EXPLORER_ADDRESS_PARAM: withDefault(
    z.string().regex(/^\w+$/, 'must be the name of a query parameter'),
    'contractaddress',
  ),
  EXPLORER_API_KEY: optional(z.string()),
  EXPLORER_URL: optional(openUrl('https://explorer.example')),
  DISCOVERY_URL: optional(openUrl('https://service.example')),
  MAX_SUBSCRIPTIONS: withDefault(count(1), '1000'),
  MAX_CHANNELS_PER_ADDRESS: withDefault(count(1), '50'),
  QUOTA_RATE: withDefault(count(1), '50'),
  QUOTA_BURST: withDefault(count(1), '5000'),
  QUOTA_WAITING: withDefault(count(1), '20000'),
  QUOTA_WAITING_MB: withDefault(count(1), '64'),
  QUOTA_DAILY_MB: withDefault(count(1), '256'),
  OPERATOR_RATE: optional(count(1)),
  DISK_RESERVE_MB: withDefault(count(0), '256'),
  NATIVE_SYMBOL: optional(z.string().max(16, 'must have at most 16 characters')),
  LOG_LEVEL: withDefault(
    oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    ),
    'info',
  ),
});

/** The bot's configuration, checked. */
export type Config = z.output<typeof schema>;

/** Every variable that the bot reads. */
export const CONFIG_KEYS = Object.keys(schema.shape);

type Environment = Record<string, string | undefined>;

/** Reads the environment; throws a {@link ConfigError} that names every missing or wrong value at once. */
export function readConfig(environment: Environment): Config {
  const parsed = schema.safeParse(environment);
  const marked = Object.keys(environment).find((name) => name.startsWith('\uFEFF'));
  const faults = (parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])}: ${issue.message}`);
  faults.push(...halfProject(environment), ...overlap(environment), ...onePort(environment), ...oneRole(environment));
  if (marked !== undefined) {
    faults.push(`${marked.slice(1)}: .env starts with a byte order mark; save it as UTF-8 without one`);
  }
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new ConfigError(
    [
      `Ledgerbell cannot start: ${faults.length === 1 ? 'one value is' : `${faults.length} values are`} missing or wrong.`,
      ...faults.map((fault) => `  - ${fault}`),
      'Set them in the environment or in a .env file that this user can read (.env.example explains each variable).',
      'To try everything without an account, run: npm run sandbox',
    ].join('\n'),
  );
}

/** The limits of the receiver URL of each server's own project. */
export const quotaLimits = (config: Config): QuotaLimits => ({
  rate: config.QUOTA_RATE,
  burst: config.QUOTA_BURST,
  waiting: config.QUOTA_WAITING,
  waitingBytes: config.QUOTA_WAITING_MB * MIB,
  dayBytes: config.QUOTA_DAILY_MB * MIB,
  operatorRate: config.OPERATOR_RATE ?? null,
});

/** The path of the database. */
export const databaseFile = ({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>): string =>
  resolve(DATABASE_URL.replace(/^sqlite:/, ''));

/** Reads the path of the database, for tools that need nothing else; throws when it is wrong or a Postgres. */
export function readDatabaseFile(environment: Environment): string {
  const url = readDatabaseUrl(environment.DATABASE_URL, 'DATABASE_URL');
  if (!isPostgres(url)) return databaseFile({ DATABASE_URL: url });
  throw new UserError(
    'DATABASE_URL names a Postgres, and this command is for SQLite files. Use the tools of Postgres, such as pg_dump and ' +
      'pg_restore, or the backups of its provider.',
  );
}

/** Checks a database's URL; throws a {@link ConfigError} that calls it by `name` when it is wrong. */
export function readDatabaseUrl(url: string | undefined, name: string): string {
  const parsed = schema.pick({ DATABASE_URL: true }).safeParse({ DATABASE_URL: url });
  if (parsed.success) return parsed.data.DATABASE_URL;
  throw new ConfigError(parsed.error.issues.map(({ message }) => `${name}: ${message}`).join('\n'));
}

/** Reads the folder for backups, for tools that need nothing else; undefined: next to the database. */
export function readBackupFolder(environment: Environment): string | undefined {
  return schema.pick({ BACKUP_DIR: true }).parse(environment).BACKUP_DIR;
}

const PROJECT_KEYS = ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_API_KEY', 'NOTIFICATION_API_SECRET'] as const;

/** The operator's project must be configured completely or not at all. */
function halfProject(values: Environment): string[] {
  const missing = PROJECT_KEYS.filter((key) => !given(values[key]));
  if (missing.length === 0 || missing.length === PROJECT_KEYS.length) return [];
  return missing.map(
    (key) =>
      `${key}: missing; set all three of NOTIFICATION_PROJECT_ID, NOTIFICATION_API_KEY and NOTIFICATION_API_SECRET, or none`,
  );
}

/** Whether listening on a host includes the other host, because it means all addresses of this machine. */
const includes = (host: string, other: string) => host === '::' || (host === '0.0.0.0' && !other.includes(':'));

/** The receiver and the operator's server cannot share a port; with 0 each gets a free one. */
function onePort(environment: Environment): string[] {
  const places = schema.pick({ HOST: true, PORT: true, OPS_HOST: true, OPS_PORT: true }).safeParse(environment);
  if (!places.success) return [];
  const { HOST, PORT, OPS_HOST, OPS_PORT } = places.data;
  const isOne = HOST === OPS_HOST || includes(HOST, OPS_HOST) || includes(OPS_HOST, HOST);
  if (PORT === 0 || PORT !== OPS_PORT || !isOne) return [];
  return [`OPS_PORT: ${OPS_PORT} is also the receiver's PORT; set a different one`];
}

/** With an SQLite file there is one process, which needs every role. */
function oneRole(environment: Environment): string[] {
  const both = schema.pick({ DATABASE_URL: true, ROLES: true }).safeParse(environment);
  if (!both.success || isPostgres(both.data.DATABASE_URL)) return [];
  if (ROLES.every((role) => both.data.ROLES.includes(role))) return [];
  return [
    'ROLES: with an SQLite file one process does everything; leave it out, or set DATABASE_URL to postgres://… to run several',
  ];
}

/** No proxy may be a source, too. If one of the lists is invalid, nothing is compared. */
function overlap(environment: Environment): string[] {
  const lists = schema.pick({ TRUSTED_PROXIES: true, RECEIVER_SOURCES: true }).safeParse(environment);
  if (!lists.success) return [];
  const { TRUSTED_PROXIES: proxies, RECEIVER_SOURCES: sources } = lists.data;
  const both = proxies.entries.filter(
    (entry) =>
      sources.has(entry.split('/')[0]!) || sources.entries.some((source) => proxies.has(source.split('/')[0]!)),
  );
  if (both.length === 0) return [];
  return [
    `TRUSTED_PROXIES: ${both.join(', ')} overlaps RECEIVER_SOURCES, so the proxy could not be distinguished from the service; remove it from one of the two`,
  ];
}

/** Prefixes of variables that only this bot uses. */
const OUR_NAMES = /^(LEDGERBELL|DISCORD|OPS|RECEIVER|NOTIFICATION|OPERATOR|EXPLORER|DISCOVERY|TRUSTED|SECRETS|BACKUP)_/;
/** Variables that do nothing without another one. */
const NEEDED = [
  ['EXPLORER_API_KEY', 'EXPLORER_API_URL'],
  ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_URL'],
] as const;

/** Shorter names are close to too many others to be compared. */
const MIN_LETTERS = 6;
/** Names that differ in more letters are different ones. */
const MAX_TYPOS = 2;

/** Variables that seem to be meant for the bot but have no effect, as messages with names and without values. */
export function configWarnings(environment: Environment): string[] {
  const isSet = (name: string) => given(environment[name]) !== undefined;
  const names = Object.keys(environment).filter(isSet);
  const unknown = names
    .filter((name) => !CONFIG_KEYS.includes(name))
    .flatMap((name) => {
      const [meant] = CONFIG_KEYS.filter((key) => isTypo(name.toUpperCase(), key));
      if (meant === undefined && !OUR_NAMES.test(name)) return [];
      return [`${name} is not a variable of Ledgerbell${meant === undefined ? '' : `; did you mean ${meant}?`}`];
    });
  const halves = NEEDED.filter(([name, needed]) => isSet(name) && !isSet(needed)).map(
    ([name, needed]) => `${name} has no effect without ${needed}`,
  );
  return [...unknown, ...halves];
}

/** Whether one name is probably the other, mistyped. */
const isTypo = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= MIN_LETTERS && editDistance(one, other, MAX_TYPOS) <= MAX_TYPOS;
