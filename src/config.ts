import { resolve } from 'node:path';
import { z } from 'zod';
import { NETWORK_VARIABLES, type NetworkVariable, namesOfFile, readNetworksFile } from './config/networks.ts';
import {
  confirmations,
  count,
  credential,
  discordUrl,
  given,
  guildIds,
  host,
  type IpRanges,
  ipRanges,
  nodeUrls,
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
import type { QuotaLimits } from './domain/inbox.ts';
import type { Network } from './domain/network.ts';
import { editDistance } from './domain/text.ts';
import { MIB } from './domain/units.ts';
import { ROOTS } from './domain/upstream.ts';
import { ConfigError, UserError } from './errors.ts';

/** The addresses of the notification service, from its specification. */
const SOURCES = '35.191.17.80,35.191.17.87,35.191.17.84,35.191.24.103';

export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);

/** A database's URL without its password and settings, for the log. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  url.password = '';
  url.search = '';
  return url.href;
}

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
  RPC_URL: optional(nodeUrls),
  RPC_CONFIRMATIONS: withDefault(confirmations, 'finalized'),
  RPC_RATE: withDefault(count(1), '10'),
  PRICES_URL: optional(openUrl('https://coins.llama.fi')),
  PRICES_CHAIN: optional(
    z.string().regex(/^[\w-]{1,40}$/, 'must be the price source’s name for the chain, like ethereum'),
  ),
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
  NETWORKS_FILE: optional(z.string().transform((value) => resolve(value))),
  LOG_LEVEL: withDefault(
    oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    ),
    'info',
  ),
});

type Values = z.output<typeof schema>;

export type NetworkConfig = Omit<Network, 'id'> & Omit<Pick<Values, NetworkVariable>, 'NATIVE_SYMBOL' | 'EXPLORER_URL'>;

/** `networks` has at least one. */
export type Config = Omit<Values, NetworkVariable> & { networks: NetworkConfig[] };

export const CONFIG_KEYS = Object.keys(schema.shape);

type Environment = Record<string, string | undefined>;

/** Reads the environment; throws a {@link ConfigError} that names every missing or wrong value at once. */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  const read = (variable: string, text: string | undefined, place: string): unknown => {
    const { data, error } = schema.shape[variable as keyof Values].safeParse(text);
    faults.push(...(error?.issues ?? []).map(({ message }) => `${place}: ${message}`));
    return data;
  };
  for (const name of CONFIG_KEYS) values[name] = read(name, environment[name], name);
  const config = values as Values;
  const { networks, faults: ofNetworks } = readNetworks(environment, config, read);
  faults.push(...ofNetworks, ...onePort(config), ...oneRole(config), ...pricedChain(config, networks));
  const marked = Object.keys(environment).find((name) => name.startsWith('\uFEFF'));
  if (marked !== undefined)
    faults.push(`${marked.slice(1)}: .env starts with a byte order mark; save it as UTF-8 without one`);
  if (faults.length === 0) {
    const others = Object.entries(values).filter(([name]) => !NETWORK_VARIABLES.includes(name as NetworkVariable));
    return { ...(Object.fromEntries(others) as Omit<Values, NetworkVariable>), networks };
  }
  throw new ConfigError(
    [
      `Ledgerbell cannot start: ${faults.length === 1 ? 'one value is' : `${faults.length} values are`} missing or wrong.`,
      ...faults.map((fault) => `  - ${fault}`),
      'Set them in the environment or in a .env file that this user can read (.env.example explains each variable).',
      'To try everything without an account, run: npm run sandbox',
    ].join('\n'),
  );
}

export const quotaLimits = (config: Config): QuotaLimits => ({
  rate: config.QUOTA_RATE,
  burst: config.QUOTA_BURST,
  waiting: config.QUOTA_WAITING,
  waitingBytes: config.QUOTA_WAITING_MB * MIB,
  dayBytes: config.QUOTA_DAILY_MB * MIB,
  operatorRate: config.OPERATOR_RATE ?? null,
});

export const databaseFile = ({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>): string =>
  resolve(DATABASE_URL.replace(/^sqlite:/, ''));

/** Throws when the URL is wrong or names a Postgres. */
export function readDatabaseFile(environment: Environment): string {
  const url = readDatabaseUrl(environment.DATABASE_URL, 'DATABASE_URL');
  if (!isPostgres(url)) return databaseFile({ DATABASE_URL: url });
  throw new UserError(
    'DATABASE_URL names a Postgres, and this command is for SQLite files. Use the tools of Postgres, such as pg_dump and ' +
      'pg_restore, or the backups of its provider.',
  );
}

export function readDatabaseUrl(url: string | undefined, name: string): string {
  const { data, error } = schema.shape.DATABASE_URL.safeParse(url);
  if (data !== undefined) return data;
  throw new ConfigError(error!.issues.map(({ message }) => `${name}: ${message}`).join('\n'));
}

/** Undefined: next to the database. */
export const readBackupFolder = ({ BACKUP_DIR }: Environment): string | undefined =>
  schema.shape.BACKUP_DIR.parse(BACKUP_DIR);

/** `RECEIVER_SOURCES` holds for every network of the file without sources of its own. */
const FILE_ONLY = NETWORK_VARIABLES.filter((variable) => variable !== 'RECEIVER_SOURCES');

function readNetworks(
  environment: Environment,
  values: Values,
  read: (variable: string, text: string | undefined, place: string) => unknown,
): { networks: NetworkConfig[]; faults: string[] } {
  const { NETWORKS_FILE: file, TRUSTED_PROXIES: proxies } = values;
  if (file === undefined) {
    const only = { name: '', title: '', chainId: null };
    const faults = [
      ...halfProject(environment, String),
      ...overlap(proxies, values.RECEIVER_SOURCES, 'RECEIVER_SOURCES'),
    ];
    return { networks: [toNetwork(only, values)], faults };
  }
  const both = FILE_ONLY.filter((variable) => given(environment[variable]) !== undefined);
  const { networks, faults } = readNetworksFile(file, environment);
  const tokens = new Map<string, string>();
  const found = networks.map(({ place, values: texts, ...network }) => {
    const described = NETWORK_VARIABLES.map((variable) => [
      variable,
      variable === 'RECEIVER_SOURCES' && texts[variable] === undefined
        ? values[variable]
        : read(variable, texts[variable], `NETWORKS_FILE: ${place(variable)}`),
    ]);
    const own = Object.fromEntries(described) as Pick<Values, NetworkVariable>;
    faults.push(...halfProject(texts, place), ...overlap(proxies, own.RECEIVER_SOURCES, place('RECEIVER_SOURCES')));
    const { RECEIVER_TOKEN: token } = own;
    const other = token && tokens.get(token);
    if (other) faults.push(`${place('RECEIVER_TOKEN')}: is also that of ${other}; each network needs its own`);
    if (token) tokens.set(token, network.name);
    return toNetwork(network, own);
  });
  return {
    networks: found,
    faults: [
      ...both.map((variable) => `${variable}: describes one network; with NETWORKS_FILE it belongs in that file`),
      ...faults.map((fault) => `NETWORKS_FILE: ${fault}`),
    ],
  };
}

function toNetwork(network: Pick<Network, 'name' | 'title' | 'chainId'>, values: Pick<Values, NetworkVariable>) {
  const { NATIVE_SYMBOL: nativeSymbol, EXPLORER_URL: explorerUrl } = values;
  const others = NETWORK_VARIABLES.filter((variable) => variable !== 'NATIVE_SYMBOL' && variable !== 'EXPLORER_URL');
  const rest = Object.fromEntries(others.map((variable) => [variable, values[variable]]));
  return { ...network, nativeSymbol, explorerUrl, hasNode: values.RPC_URL !== undefined, ...rest } as NetworkConfig;
}

const PROJECT_KEYS = ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_API_KEY', 'NOTIFICATION_API_SECRET'] as const;

function halfProject(values: Environment, nameOf: (variable: NetworkVariable) => string): string[] {
  const missing = PROJECT_KEYS.filter((key) => !given(values[key]));
  if (missing.length === 0 || missing.length === PROJECT_KEYS.length) return [];
  const all = PROJECT_KEYS.map((key) => nameOf(key).replace(/^.* /, ''));
  return missing.map((key) => `${nameOf(key)}: missing; set all three of ${all[0]}, ${all[1]} and ${all[2]}, or none`);
}

/** Whether listening on a host includes the other host, because it means all addresses of this machine. */
const includes = (host: string, other: string) => host === '::' || (host === '0.0.0.0' && !other.includes(':'));

/** With port 0 each server gets a free one. */
function onePort({ HOST, PORT, OPS_HOST, OPS_PORT }: Values): string[] {
  const isOne = HOST === OPS_HOST || includes(HOST, OPS_HOST) || includes(OPS_HOST, HOST);
  if (!PORT || PORT !== OPS_PORT || !isOne) return [];
  return [`OPS_PORT: ${OPS_PORT} is also the receiver's PORT; set a different one`];
}

function pricedChain({ PRICES_URL: url, NETWORKS_FILE: file }: Values, networks: readonly NetworkConfig[]): string[] {
  if (!url || networks.length === 0 || networks.some((network) => network.PRICES_CHAIN)) return [];
  const name = file === undefined ? 'PRICES_CHAIN' : 'NETWORKS_FILE: pricesChain';
  return [`${name}: missing; PRICES_URL needs the price source’s name for the chain, like ethereum`];
}

function oneRole({ DATABASE_URL, ROLES: own }: Partial<Values>): string[] {
  if (!DATABASE_URL || !own || isPostgres(DATABASE_URL) || ROLES.every((role) => own.includes(role))) return [];
  return [
    'ROLES: with an SQLite file one process does everything; leave it out, or set DATABASE_URL to postgres://… to run several',
  ];
}

/** If one of the lists is invalid, nothing is compared. */
function overlap(proxies: IpRanges | undefined, sources: IpRanges | undefined, name: string): string[] {
  if (!proxies || !sources) return [];
  const startsIn = (ranges: IpRanges) => (entry: string) =>
    ranges.check(entry.split('/')[0]!, entry.includes(':') ? 'ipv6' : 'ipv4');
  const both = proxies.entries.filter((entry) => startsIn(sources)(entry) || sources.entries.some(startsIn(proxies)));
  if (both.length === 0) return [];
  const todo = 'so the proxy could not be distinguished from the service; remove it from one of the two';
  return name === 'RECEIVER_SOURCES'
    ? [`TRUSTED_PROXIES: ${both.join(', ')} overlaps RECEIVER_SOURCES, ${todo}`]
    : [`${name}: ${both.join(', ')} overlaps TRUSTED_PROXIES, ${todo}`];
}

const OUR_NAMES =
  /^(LEDGERBELL|DISCORD|OPS|RECEIVER|NOTIFICATION|OPERATOR|EXPLORER|DISCOVERY|TRUSTED|SECRETS|BACKUP|RPC|PRICES)_/;
const NO_EFFECT_WITHOUT = [
  ['EXPLORER_API_KEY', 'EXPLORER_API_URL'],
  ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_URL'],
  ['PRICES_CHAIN', 'PRICES_URL'],
] as const;

/** Shorter names are close to too many others to be compared. */
const MIN_LETTERS = 6;
const MAX_TYPOS = 2;

/** Messages about variables without an effect; they contain names and no values. */
export function configWarnings(environment: Environment): string[] {
  const isSet = (name: string) => given(environment[name]) !== undefined;
  const file = given(environment.NETWORKS_FILE) as string | undefined;
  const known = [...CONFIG_KEYS, ...(file === undefined ? [] : readNetworksFile(resolve(file), environment).secrets)];
  const unknown = Object.keys(environment).filter((name) => isSet(name) && !known.includes(name));
  const mistyped = unknown.flatMap((name) => {
    const meant = CONFIG_KEYS.find((key) => isTypo(name.toUpperCase(), key));
    if (meant === undefined && !OUR_NAMES.test(name)) return [];
    return [`${name} is not a variable of Ledgerbell${meant === undefined ? '' : `; did you mean ${meant}?`}`];
  });
  const halves = NO_EFFECT_WITHOUT.filter(([name, needed]) => isSet(name) && !isSet(needed)).map(
    ([name, needed]) => `${name} has no effect without ${needed}`,
  );
  return [...mistyped, ...halves];
}

const isTypo = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= MIN_LETTERS && editDistance(a, b, MAX_TYPOS) <= MAX_TYPOS;

/** The interfaces that a network does without: their variables, or with several networks fields of the file. */
export function rootsNotSet(network: NetworkConfig): string[] {
  const missing = Object.values(ROOTS).filter((name) => name !== 'PRICES_URL' && !network[name]);
  return network.name === '' ? missing : missing.map((name) => `${namesOfFile(name)} of ${network.name}`);
}
