import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS, configWarnings, databaseFile, readConfig } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';
import { plainIp } from '../src/receiver/admission.ts';
import { temporaryFolder } from './folder.ts';

const LINES = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^[A-Z_]+=/.test(line));

function faults(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('The environment was accepted.');
}

describe('.env.example', () => {
  it('lists in .env.example exactly the variables that are read', () => {
    expect(LINES.map((line) => line.split('=')[0]).sort()).toEqual([...CONFIG_KEYS].sort());
  });

  it('reads .env.example like an empty environment, and warns of nothing', () => {
    const values = Object.fromEntries(
      LINES.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const plain = (config: object) => JSON.parse(JSON.stringify(config));
    expect(plain(readConfig({ ...values, DISCORD_TOKEN: 't' }))).toEqual(plain(readConfig({ DISCORD_TOKEN: 't' })));
    expect(configWarnings({ ...values, DISCORD_TOKEN: 't' })).toEqual([]);
  });
});

it('warns of unknown variables that look like its own, with the probable one, and of variables without effect', () => {
  expect(
    configWarnings({
      DISCORD_TOKEN: 'x',
      NOTIFICATION_APIKEY: 'secret',
      LOG_LEVL: 'debug',
      DISCORD_GUILD: '1',
      EXPLORER_API_KEY: 'secret',
      PRICES_CHAIN: 'ethereum',
      HOME: '/',
      PATH: '/bin',
    }),
  ).toEqual([
    'NOTIFICATION_APIKEY is not a variable of Ledgerbell; did you mean NOTIFICATION_API_KEY?',
    'LOG_LEVL is not a variable of Ledgerbell; did you mean LOG_LEVEL?',
    'DISCORD_GUILD is not a variable of Ledgerbell',
    'EXPLORER_API_KEY has no effect without EXPLORER_API_URL',
    'PRICES_CHAIN has no effect without PRICES_URL',
  ]);
});

it('reads the fixed defaults when only the token is set', () => {
  const { networks, ...config } = readConfig({ DISCORD_TOKEN: 't' });
  expect(config).toMatchObject({
    DISCORD_API_URL: 'https://discord.com/api',
    HOST: '127.0.0.1',
    PORT: 8080,
    OPS_HOST: '127.0.0.1',
    OPS_PORT: 9464,
    DATABASE_URL: 'sqlite:data/ledgerbell.sqlite',
    ROLES: ['receive', 'work'],
    RECEIVER_SOURCE_CHECK: 'enforce',
    MAX_SUBSCRIPTIONS: 1_000,
    LOG_LEVEL: 'info',
  });
  expect(networks).toMatchObject([{ name: '', title: '', chainId: null, EXPLORER_ADDRESS_PARAM: 'contractaddress' }]);
  const sources = '35.191.17.80 35.191.17.87 35.191.17.84 35.191.24.103';
  expect(networks[0]!.RECEIVER_SOURCES.entries).toEqual(sources.split(' '));
});

const PROJECT = { NOTIFICATION_PROJECT_ID: 'p', NOTIFICATION_API_KEY: 'k', NOTIFICATION_API_SECRET: 's' };
const SIXTEEN = { RECEIVER_TOKEN: 'sixteen-letters.' };
const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

it.each([
  ['IPv6 addresses in their URL form', { HOST: '[::1]', OPS_HOST: '::1' }, { HOST: '::1', OPS_HOST: '::1' }],
  ['a project’s keys without a root of the service: it is off', PROJECT, { networks: [PROJECT] }],
  ['a path token of 16 characters', SIXTEEN, { networks: [SIXTEEN] }],
  [
    'blanks around values',
    { DISCORD_TOKEN: ' token\n', PORT: ' 8081 ', PUBLIC_URL: 'https://bell.example/\t', HOST: ' ' },
    { DISCORD_TOKEN: 'token', PORT: 8081, PUBLIC_URL: 'https://bell.example', HOST: '127.0.0.1' },
  ],
  ['an @ in the path of a root', { DISCOVERY_URL: 'https://service.example/@v0' }, {}],
  [
    'a process that only receives, on Postgres',
    { DATABASE_URL: 'postgres://a@b/c', ROLES: 'receive' },
    { ROLES: ['receive'] },
  ],
  ...[[SIGNING], [SIGNING, SIGNING]].map((secrets) => [
    `signing secrets: ${secrets.length}`,
    { NOTIFICATION_SIGNING_SECRET: secrets.join(', ') },
    { networks: [{ NOTIFICATION_SIGNING_SECRET: secrets }] },
  ]),
] as [string, object, object][])('accepts %s', (_, environment, config) => {
  expect(readConfig({ DISCORD_TOKEN: 't', ...environment })).toMatchObject(config);
});

it.each([
  ['data/bell.sqlite', resolve('data/bell.sqlite')],
  ['sqlite:data/bell.sqlite', resolve('data/bell.sqlite')],
  ['/srv/bell.sqlite', '/srv/bell.sqlite'],
  ['sqlite:///srv/bell.sqlite', '/srv/bell.sqlite'],
])('reads the database path %s', (url, path) => {
  expect(databaseFile(readConfig({ DISCORD_TOKEN: 't', DATABASE_URL: url }))).toBe(path);
});

it('accepts addresses and ranges of both families, down to single addresses', () => {
  const sources = '2001:db8::/32 203.0.113.7/32, 198.51.100.0/24,2001:db9::1 2001:db9::2/128';
  const { networks } = readConfig({ DISCORD_TOKEN: 't', RECEIVER_SOURCES: sources });
  const { RECEIVER_SOURCES: list } = networks[0]!;
  const inside = ['2001:db8:1::5', '203.0.113.7', '198.51.100.200', '2001:db9::1', '2001:db9::2'];
  const outside = ['2001:dba::1', '203.0.113.6', '198.51.101.1', '2001:db9::3', '::ffff:203.0.113.7x', ''];
  const isListed = (text: string) => {
    const ip = plainIp(text);
    return ip !== null && list.check(ip);
  };
  expect([...inside, ...outside].filter(isListed)).toEqual(inside);
});

describe('a wrong environment', () => {
  it('reports every fault of a wrong environment, without values of secrets', () => {
    const message = faults({
      PORT: '99999',
      RECEIVER_TOKEN: 'se cret',
      RECEIVER_SOURCES: '1.2.3.4, not-an-ip, 203.0.113.7:443',
      NOTIFICATION_API_SECRET: 'hush-hush',
      SECRETS_KEY: 'c2hvcnQ=',
      DATABASE_URL: 'mysql://user:password@host/db',
    });
    for (const key of ['DISCORD_TOKEN', 'PORT', 'RECEIVER_TOKEN', 'SECRETS_KEY', 'DATABASE_URL'])
      expect(message).toContain(`- ${key}:`);
    expect(message.match(/(?<=RECEIVER_SOURCES: )\S+/g)).toEqual(['"not-an-ip"', '"203.0.113.7:443"']);
    expect(message).toContain('9 values are missing or wrong');
    expect(message).toContain('NOTIFICATION_PROJECT_ID: missing');
    // The bot treats an unreadable .env file like a missing one.
    expect(message).toContain('.env file that this user can read');
    expect(message).toContain('npm run sandbox');
    for (const secret of ['se cret', 'hush-hush', 'c2hvcnQ=', 'password']) expect(message).not.toContain(secret);
  });

  const QUERY = 'must be a URL like https://bot.example';
  const GUESSABLE = 'must be 16 to 100 letters, digits, _, -, . or ~ (openssl rand -hex 24)';
  const PASSWORD = 'must not contain a user name or password; use a URL like https://';
  const URLS = ['DISCORD_API', 'PUBLIC', 'NOTIFICATION', 'EXPLORER_API', 'EXPLORER', 'DISCOVERY'].map(
    (of) => `${of}_URL`,
  );
  const RANGE = 'is not an IP address or a CIDR range like 203.0.113.0/24';
  it.each([
    ['DISCORD_TOKEN', 'hush hush', 'must be the bot token'],
    ['DISCORD_TOKEN', 'hush\nhush', 'must be the bot token'],
    ['DISCORD_TOKEN', 'hushé', 'must be the bot token'],
    ['DISCORD_API_URL', 'discord.com/api', 'must be a URL like https://discord.com/api'],
    ['DISCORD_API_URL', 'https://discord.com/api/v10', 'must not contain the version; use a URL like https://'],
    ...URLS.map((name) => [name, 'https://user:hush@service.example/v0', PASSWORD]),
    ['PORT', 'http', 'must be a port number from 0 to 65535'],
    ['OPS_PORT', '-1', 'must be a port number from 0 to 65535'],
    ['PUBLIC_URL', 'https://bell.example/?a=1', QUERY],
    // A whole receiver URL ends in a secret.
    ['PUBLIC_URL', 'https://bell.example/hooks/hush', 'must not contain /hooks, which the bot adds itself; use a URL'],
    ['DATABASE_URL', 'sqlite://data/bell.sqlite', 'must be sqlite: and a path, like sqlite:data/ledgerbell.sqlite'],
    ['DATABASE_URL', 'postgres://a:hush#hush@b:port/c', 'a URL like postgres://ledgerbell@db.example/ledgerbell'],
    ['ROLES', 'work', 'with an SQLite file one process does everything; leave it out, or set DATABASE_URL to postgres'],
    ['ROLES', 'receive,work,send', 'must be receive, work, or both: receive,work'],
    ['SECRETS_KEY', 'hush-hush,hush', 'openssl rand -base64 32'],
    ...['.', '..', 'a/b', 'a b', 'x'.repeat(15), 'x'.repeat(101)].map((it) => ['RECEIVER_TOKEN', it, GUESSABLE]),
    ['RECEIVER_SOURCES', ' , ', 'must list IP addresses or CIDR ranges; to turn the check off, leave it out and set'],
    ['RECEIVER_SOURCE_CHECK', 'Enforce', 'must be enforce, report or off'],
    ...['10/8', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', 'fe80::1%eth0/64x', '/8'].map(
      (it) => ['TRUSTED_PROXIES', it, `"${it}" ${RANGE}`],
    ),
    ['NOTIFICATION_URL', 'service.example/v0', 'must be a URL like https://service.example/v0'],
    ...[SIGNING.replace('whsec_', ''), 'whsec_hush', `${SIGNING},${SIGNING},${SIGNING}`, `${SIGNING},other`].map(
      (it) => ['NOTIFICATION_SIGNING_SECRET', it, 'must be whsec_'],
    ),
    ['OPERATOR_GUILD_IDS', 'Harbor DAO', 'must be server IDs like 112233445566778899, separated by commas'],
    ['EXPLORER_API_URL', 'ftp://service.example/v0', 'must be a URL like https://service.example/v0'],
    ['EXPLORER_ADDRESS_PARAM', 'contract address', 'must be the name of a query parameter'],
    ['EXPLORER_URL', 'explorer', 'must be a URL like https://explorer.example'],
    ['DISCOVERY_URL', '//service.example', 'must be a URL like https://service.example'],
    ['MAX_SUBSCRIPTIONS', '0', 'must be a number from 1 to 999999999'],
    ['NATIVE_SYMBOL', 'x'.repeat(17), 'must have at most 16 characters'],
    ['LOG_LEVEL', 'verbose', 'must be trace, debug, info, warn, error, fatal or silent'],
  ] as [name: string, value: string, like: string][])(
    'refuses %s=%s and shows what a right value looks like, without the value of a secret',
    (name, value, like) => {
      const message = faults({ DISCORD_TOKEN: 't', [name]: value });
      expect(message).toContain('one value is missing or wrong');
      expect(message.split('\n').find((line) => line.startsWith(`  - ${name}: `))).toContain(like);
      expect(message).not.toContain('hush');
      expect(message).not.toContain(SIGNING);
    },
  );

  const UNSENDABLE = { ...PROJECT, NOTIFICATION_API_SECRET: 'to ken' };
  it.each<[string, Record<string, string>, RegExp]>([
    ['an API secret that a header cannot contain', UNSENDABLE, /- NOTIFICATION_API_SECRET: must be the project’s API/],
    ['a byte order mark, which would hide the first value', { '\uFEFFHOST': '::' }, /- HOST: .*byte order mark/],
    ['a price source without a chain', { PRICES_URL: 'https://prices.example' }, /- PRICES_CHAIN: missing; .*like/],
  ])('refuses %s', (_, environment, fault) => {
    expect(faults({ DISCORD_TOKEN: 't', ...environment })).toMatch(fault);
  });

  it('refuses one port for both listeners', () => {
    for (const all of [{}, { HOST: '0.0.0.0' }, { HOST: '::' }, { OPS_HOST: '0.0.0.0' }])
      expect(faults({ DISCORD_TOKEN: 't', PORT: '9464', ...all })).toContain('- OPS_PORT: 9464 is also the receiver');
    const elsewhere = { DISCORD_TOKEN: 't', PORT: '9464', HOST: '10.0.0.1' };
    const otherFamily = { ...elsewhere, HOST: '0.0.0.0', OPS_HOST: '::1' };
    for (const environment of [elsewhere, otherFamily, { DISCORD_TOKEN: 't', PORT: '0', OPS_PORT: '0' }])
      readConfig(environment);
  });

  it.each([
    [{ RECEIVER_SOURCES: '10.0.0.0/8', TRUSTED_PROXIES: '10.1.1.1' }],
    [{ RECEIVER_SOURCES: '10.1.1.1', TRUSTED_PROXIES: '10.0.0.0/8' }],
  ])('refuses proxies that overlap the sources: %j', (environment) => {
    expect(faults({ PORT: 'x', ...environment })).toMatch(
      /PORT:.*TRUSTED_PROXIES:.*overlaps.*remove it from one of the two/s,
    );
  });
});

describe('a file of networks', () => {
  const TWO = [
    {
      name: 'arbitrum',
      title: 'Arbitrum',
      chainId: 42161,
      nativeSymbol: 'ETH',
      explorerApiKey: 'env:ARB_EXPLORER_KEY',
    },
    {
      name: 'base',
      chainId: 8453,
      explorerUrl: 'https://explorer.example/',
      receiverToken: 'env:BASE_TOKEN',
      sources: ['203.0.113.7', '198.51.100.0/24'],
      notification: { url: 'https://service.example/v0', projectId: 'p', apiKey: 'env:BASE_KEY', apiSecret: 's' },
    },
  ];
  const SECRETS = { ARB_EXPLORER_KEY: 'hush-1', BASE_TOKEN: 'hush-hush-hush-2', BASE_KEY: 'hush-3' };
  const fileOf = (content: unknown): string => {
    const path = join(temporaryFolder(), 'networks.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const environmentOf = (content: unknown, others: object = SECRETS) => ({
    DISCORD_TOKEN: 't',
    NETWORKS_FILE: fileOf(content),
    ...others,
  });

  it('describes each network, with secrets from the environment', () => {
    const environment = environmentOf(TWO, { ...SECRETS, RECEIVER_SOURCES: '127.0.0.1' });
    const { networks } = readConfig(environment);
    expect(networks).toMatchObject([
      {
        name: 'arbitrum',
        title: 'Arbitrum',
        chainId: 42161,
        nativeSymbol: 'ETH',
        EXPLORER_API_KEY: 'hush-1',
        EXPLORER_ADDRESS_PARAM: 'contractaddress',
        NOTIFICATION_URL: undefined,
      },
      {
        name: 'base',
        title: 'base',
        chainId: 8453,
        explorerUrl: 'https://explorer.example',
        RECEIVER_TOKEN: 'hush-hush-hush-2',
        NOTIFICATION_URL: 'https://service.example/v0',
        NOTIFICATION_PROJECT_ID: 'p',
        NOTIFICATION_API_KEY: 'hush-3',
        NOTIFICATION_API_SECRET: 's',
      },
    ]);
    expect(networks.map(({ RECEIVER_SOURCES: { entries } }) => entries)).toEqual([
      ['127.0.0.1'],
      ['203.0.113.7', '198.51.100.0/24'],
    ]);
    expect(configWarnings({ ...environment, EXPLORER_KEY_OF_ARB: 'x' })).toHaveLength(1);
  });

  it.each([
    ['a missing file', undefined, ['the file cannot be read (ENOENT)']],
    ['no JSON, whose text is not repeated', '[{ "apiKey": "hush" hush }]', ['the file is not JSON']],
    ['no list', { name: 'base', chainId: 1 }, ['must be a list with at least one network']],
    ['an empty list', [], ['must be a list with at least one network']],
    [
      'every fault with its place',
      [
        { name: 'Base', chainId: '8453', explorerUrl: 'hush', explorer: 'x' },
        {
          name: 'fuse',
          chainId: 122,
          receiverToken: 'env:NO_TOKEN',
          sources: ['no-ip'],
          notification: { url: 'https://service.example', apiKey: 'hush', signingSecret: 'hush' },
        },
        'x',
      ],
      [
        '[0] name: required: 1 to 32 lower-case letters, digits and hyphens, like arbitrum',
        '[0] chainId: required: the chain’s number, like 42161',
        '[0] explorer: is not a field of a network',
        '[0] explorerUrl: must be a URL like https://explorer.example',
        '[1] (fuse) receiverToken: NO_TOKEN is not set in the environment',
        '[1] (fuse) sources: "no-ip" is not an IP address or a CIDR range like 203.0.113.0/24',
        '[1] (fuse) notification.signingSecret: must be whsec_',
        '[1] (fuse) notification.projectId: missing; set all three of notification.projectId, notification.apiKey and',
        '[1] (fuse) notification.apiSecret: missing',
        '[2]: must be an object',
      ],
    ],
    [
      'what only one network may have',
      [
        { name: 'base', chainId: 8453, receiverToken: 'hush-hush-hush-hush' },
        { name: 'base', chainId: 8453, receiverToken: 'hush-hush-hush-hush' },
      ],
      [
        '[1] name: is also that of [0]',
        '[1] chainId: is also that of [0]',
        '[1] (base) receiverToken: is also that of base; each network needs its own',
      ],
    ],
  ])('refuses %s, without values', (_, content, expected) => {
    const missing = join(tmpdir(), 'no-such-folder', 'networks.json');
    const environment = content === undefined ? { NETWORKS_FILE: missing } : environmentOf(content, {});
    const message = faults({ DISCORD_TOKEN: 't', ...environment });
    for (const fault of expected) expect(message).toContain(`- NETWORKS_FILE: ${fault}`);
    expect(message.split('\n').filter((line) => line.startsWith('  - '))).toHaveLength(expected.length);
    expect(message).not.toContain('hush');
  });

  it('refuses variables that describe one network next to it', () => {
    const message = faults(environmentOf(TWO, { ...SECRETS, EXPLORER_URL: 'https://explorer.example' }));
    expect(message).toMatch(/one value.*- EXPLORER_URL: describes one network; with NETWORKS_FILE/s);
  });
});
