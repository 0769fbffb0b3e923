import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';

/** A start that cannot be made with this environment; the message names every fault and no secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** IPs and CIDR ranges, as text and as a list to check against. */
export interface AddressList {
  entries: string[];
  has(ip: string): boolean;
}

const SOURCES = '35.191.17.80,35.191.17.87,35.191.17.84,35.191.24.103';

/** Turns the text of a variable that is set into its value; throws a {@link Fault}. */
type Read<T> = (text: string) => T;

/** What is wrong with a value: what a right one looks like, never the value. */
class Fault extends Error {}

const given = (value: string | undefined) => (value === undefined || value.trim() === '' ? undefined : value);
const required = (expected: string) => (value: string | undefined) => given(value) ?? fail(`required: ${expected}`);
const optional =
  <T>(read: Read<T>) =>
  (value: string | undefined): T | undefined => {
    const set = given(value);
    return set === undefined ? undefined : read(set);
  };
const withDefault =
  <T>(read: Read<T>, fallback: string) =>
  (value: string | undefined): T =>
    read(given(value) ?? fallback);

const text: Read<string> = (value) => value;
const matching =
  (pattern: RegExp, expected: string): Read<string> =>
  (value) =>
    pattern.test(value) ? value : fail(expected);
const oneOf =
  <T extends string>(values: readonly T[], expected: string): Read<T> =>
  (value) =>
    values.find((one) => one === value) ?? fail(expected);

function fail(expected: string): never {
  throw new Fault(expected);
}

const port: Read<number> = (value) =>
  /^\d+$/.test(value) && Number(value) <= 65535 ? Number(value) : fail('a port is a number from 0 to 65535');
const urlLike =
  (example: string): Read<string> =>
  (value) =>
    // What is put behind it would become part of a query.
    /^https?:\/\/[^?#]*$/.test(value) && URL.canParse(value)
      ? value.replace(/\/+$/, '')
      : fail(`a URL like ${example}`);
const url = urlLike('https://service.example/v0');
const ids: Read<string[]> = (value) =>
  split(value).every((id) => /^\d{1,20}$/.test(id)) ? split(value) : fail('Discord ids: numbers, separated by commas');
const list: Read<AddressList> = (value) => addressList(split(value));
const keys: Read<Buffer[]> = (value) => {
  const read = split(value).map((key) => Buffer.from(key, 'base64'));
  return read.length > 0 && read.every((key) => key.length === 32)
    ? read
    : fail('32 bytes in base64 (openssl rand -base64 32), before the old key and a comma while it changes');
};

function split(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .map((entry) => entry.trim())
    .filter(Boolean);
}

function addressList(entries: string[]): AddressList {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [ip = '', bits, ...rest] = entry.split('/');
    const family = isIP(ip);
    const most = family === 6 ? 128 : 32;
    const valid = family !== 0 && rest.length === 0 && (bits === undefined || /^\d{1,3}$/.test(bits));
    if (!valid || Number(bits ?? 0) > most) {
      fail(`"${entry.slice(0, 60)}" is not an IP or a CIDR range like 203.0.113.0/24`);
    }
    const type = family === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) blocks.addAddress(ip, type);
    else blocks.addSubnet(ip, Number(bits), type);
  }
  return { entries, has: (ip) => isIP(ip) !== 0 && blocks.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4') };
}

/** One entry a variable; `.env.example` names exactly these. */
const VARIABLES = {
  DISCORD_TOKEN: required('the bot token from the Discord developer portal'),
  DISCORD_API_URL: withDefault(url, 'https://discord.com/api'),
  HOST: withDefault(text, '127.0.0.1'),
  PORT: withDefault(port, '8080'),
  PUBLIC_URL: optional(urlLike('https://bot.example')),
  OPS_HOST: withDefault(text, '127.0.0.1'),
  OPS_PORT: withDefault(port, '9464'),
  DATABASE_URL: withDefault(
    matching(/^sqlite:./, 'sqlite: and a path, like sqlite:data/ledgerbell.sqlite'),
    'sqlite:data/ledgerbell.sqlite',
  ),
  SECRETS_KEY: optional(keys),
  RECEIVER_TOKEN: optional(matching(/^[\w-]{8,100}$/, '8 to 100 letters, digits, _ or - (openssl rand -hex 24)')),
  RECEIVER_SOURCES: withDefault(list, SOURCES),
  RECEIVER_SOURCE_CHECK: withDefault(oneOf(['enforce', 'report', 'off'], 'enforce, report or off'), 'enforce'),
  TRUSTED_PROXIES: withDefault(list, ','),
  NOTIFICATION_URL: optional(url),
  NOTIFICATION_PROJECT_ID: optional(text),
  NOTIFICATION_API_KEY: optional(text),
  NOTIFICATION_API_SECRET: optional(text),
  OPERATOR_GUILD_IDS: withDefault(ids, ','),
  EXPLORER_API_URL: optional(url),
  EXPLORER_ADDRESS_PARAM: withDefault(matching(/^\w+$/, 'the name of a query parameter'), 'contractaddress'),
  EXPLORER_API_KEY: optional(text),
  EXPLORER_URL: optional(url),
  DISCOVERY_URL: optional(url),
  MAX_SUBSCRIPTIONS: withDefault(
    (value) => Number(matching(/^[1-9]\d{0,6}$/, 'a number from 1 to 9999999')(value)),
    '1000',
  ),
  NATIVE_SYMBOL: optional(matching(/^.{1,16}$/s, 'at most 16 characters')),
  LOG_LEVEL: withDefault(
    oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'trace, debug, info, warn, error, fatal or silent',
    ),
    'info',
  ),
};

type Name = keyof typeof VARIABLES;

/** The bot's configuration, checked. */
export type Config = { [Key in Name]: ReturnType<(typeof VARIABLES)[Key]> };

/** Every variable that the bot reads. */
export const CONFIG_KEYS = Object.keys(VARIABLES) as Name[];

type Environment = Record<string, string | undefined>;

/** Reads the environment; throws a {@link ConfigError} that names every missing or wrong value at once. */
export function readConfig(environment: Environment): Config {
  const faults: string[] = [];
  const entries = CONFIG_KEYS.map((name) => {
    try {
      return [name, VARIABLES[name](environment[name])];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(`${name}: ${error.message}`);
      return [name, undefined];
    }
  });
  const config = Object.fromEntries(entries) as Config;
  faults.push(...halfProject(environment), ...overlap(config));
  if (faults.length === 0) return config;
  throw new ConfigError(
    [
      `Ledgerbell cannot start: ${faults.length === 1 ? 'one value is' : `${faults.length} values are`} missing or wrong.`,
      ...faults.map((fault) => `  - ${fault}`),
      'Set them in the environment or in a file named .env (.env.example explains each).',
      'To try everything without any account: npm run sandbox',
    ].join('\n'),
  );
}

/** The path of the database. */
export const databaseFile = ({ DATABASE_URL }: Pick<Config, 'DATABASE_URL'>): string =>
  resolve(DATABASE_URL.slice('sqlite:'.length));

/** The same, for the tools that need nothing else; throws a {@link ConfigError} when it is wrong. */
export function readDatabaseFile(environment: Environment): string {
  try {
    return databaseFile({ DATABASE_URL: VARIABLES.DATABASE_URL(environment.DATABASE_URL) });
  } catch (error) {
    throw error instanceof Fault ? new ConfigError(`DATABASE_URL: ${error.message}`) : error;
  }
}

const PROJECT_KEYS = ['NOTIFICATION_PROJECT_ID', 'NOTIFICATION_API_KEY', 'NOTIFICATION_API_SECRET'] as const;

/** The operator's project comes whole or not at all. */
function halfProject(values: Environment): string[] {
  const missing = PROJECT_KEYS.filter((key) => !given(values[key]));
  if (missing.length === 0 || missing.length === PROJECT_KEYS.length) return [];
  return missing.map((key) => `${key}: missing; the three NOTIFICATION_ project values go together, all or none`);
}

/** A proxy that is a source; a list that is itself wrong is not there. */
function overlap({ TRUSTED_PROXIES: proxies, RECEIVER_SOURCES: sources }: Partial<Config>): string[] {
  if (!proxies || !sources) return [];
  const both = proxies.entries.filter(
    (entry) =>
      sources.has(entry.split('/')[0]!) || sources.entries.some((source) => proxies.has(source.split('/')[0]!)),
  );
  if (both.length === 0) return [];
  return [
    `TRUSTED_PROXIES: ${both.join(', ')} overlaps RECEIVER_SOURCES; a proxy that is itself a source could not be told from the service`,
  ];
}
