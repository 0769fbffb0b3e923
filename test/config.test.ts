import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS, configWarnings, databaseFile, readConfig } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';

const LINES = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^[A-Z_]+=/.test(line));

/** The message that refuses an environment. */
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
      HOME: '/',
      PATH: '/bin',
    }),
  ).toEqual([
    'NOTIFICATION_APIKEY is not a variable of Ledgerbell; did you mean NOTIFICATION_API_KEY?',
    'LOG_LEVL is not a variable of Ledgerbell; did you mean LOG_LEVEL?',
    'DISCORD_GUILD is not a variable of Ledgerbell',
    'EXPLORER_API_KEY has no effect without EXPLORER_API_URL',
  ]);
});

it('reads the fixed defaults when only the token is set', () => {
  const { RECEIVER_SOURCES: sources, ...config } = readConfig({ DISCORD_TOKEN: 't' });
  expect(config).toMatchObject({
    DISCORD_API_URL: 'https://discord.com/api',
    HOST: '127.0.0.1',
    PORT: 8080,
    OPS_HOST: '127.0.0.1',
    OPS_PORT: 9464,
    DATABASE_URL: 'sqlite:data/ledgerbell.sqlite',
    ROLES: ['receive', 'work'],
    RECEIVER_SOURCE_CHECK: 'enforce',
    EXPLORER_ADDRESS_PARAM: 'contractaddress',
    MAX_SUBSCRIPTIONS: 1_000,
    LOG_LEVEL: 'info',
  });
  expect(sources.entries).toEqual(['35.191.17.80', '35.191.17.87', '35.191.17.84', '35.191.24.103']);
});

it('accepts an IPv6 address in its URL form', () => {
  const config = readConfig({ DISCORD_TOKEN: 't', HOST: '[::1]', OPS_HOST: '::1' });
  expect([config.HOST, config.OPS_HOST]).toEqual(['::1', '::1']);
});

const PROJECT = { NOTIFICATION_PROJECT_ID: 'p', NOTIFICATION_API_KEY: 'k', NOTIFICATION_API_SECRET: 's' };

it('accepts a project’s keys without a root of the service: that interface is off', () => {
  const config = readConfig({ DISCORD_TOKEN: 't', ...PROJECT });
  expect(config).toMatchObject(PROJECT);
  expect(config.NOTIFICATION_URL).toBeUndefined();
});

it('accepts a path without its scheme, and a path token of 16 characters', () => {
  const config = readConfig({
    DISCORD_TOKEN: 't',
    DATABASE_URL: 'data/bell.sqlite',
    RECEIVER_TOKEN: 'sixteen-letters.',
  });
  expect(databaseFile(config)).toBe(databaseFile({ DATABASE_URL: 'sqlite:data/bell.sqlite' }));
  expect(databaseFile({ DATABASE_URL: '/srv/bell.sqlite' })).toBe('/srv/bell.sqlite');
  expect(config.RECEIVER_TOKEN).toBe('sixteen-letters.');
});

it('trims blanks around values', () => {
  const config = readConfig({ DISCORD_TOKEN: 't', PORT: ' 8081 ', PUBLIC_URL: 'https://bell.example/\t', HOST: ' ' });
  expect(config).toMatchObject({ PORT: 8081, PUBLIC_URL: 'https://bell.example', HOST: '127.0.0.1' });
});

it('accepts addresses and ranges of both families, down to single addresses', () => {
  const sources = '2001:db8::/32 203.0.113.7/32, 198.51.100.0/24,2001:db9::1 2001:db9::2/128';
  const { RECEIVER_SOURCES: list } = readConfig({ DISCORD_TOKEN: 't', RECEIVER_SOURCES: sources });
  const inside = ['2001:db8:1::5', '203.0.113.7', '198.51.100.200', '2001:db9::1', '2001:db9::2'];
  const outside = ['2001:dba::1', '203.0.113.6', '198.51.101.1', '2001:db9::3', '::ffff:203.0.113.7x', ''];
  expect([...inside, ...outside].filter((ip) => list.has(ip))).toEqual(inside);
});

describe('a wrong environment', () => {
  it('reports every fault of a wrong environment, without values of secrets', () => {
    const message = faults({
      PORT: '99999',
      RECEIVER_TOKEN: 'se cret',
      RECEIVER_SOURCES: '1.2.3.4, not-an-ip',
      NOTIFICATION_API_SECRET: 'hush-hush',
      SECRETS_KEY: 'c2hvcnQ=',
      DATABASE_URL: 'mysql://user:password@host/db',
    });
    for (const key of ['DISCORD_TOKEN', 'PORT', 'RECEIVER_TOKEN', 'RECEIVER_SOURCES', 'SECRETS_KEY', 'DATABASE_URL']) {
      expect(message).toContain(`- ${key}:`);
    }
    expect(message).toContain('NOTIFICATION_PROJECT_ID: missing');
    // Node treats an unreadable .env file like a missing one.
    expect(message).toContain('.env file that this user can read');
    expect(message).toContain('npm run sandbox');
    for (const secret of ['se cret', 'hush-hush', 'c2hvcnQ=', 'password']) expect(message).not.toContain(secret);
  });

  it('refuses a token that a header cannot contain, and trims blanks around it', () => {
    for (const token of ['to ken', 'to\nken', 'tokén']) {
      const message = faults({ DISCORD_TOKEN: token, ...PROJECT, NOTIFICATION_API_SECRET: token });
      expect(message).toMatch(/DISCORD_TOKEN: must be the bot token.*NOTIFICATION_API_SECRET: must be the project/s);
      expect(message).not.toContain(token);
    }
    expect(readConfig({ DISCORD_TOKEN: ' token\n' }).DISCORD_TOKEN).toBe('token');
  });

  it.each(['discord.com/api', 'https://discord.com/api/v10', 'https://discord.com/api/v9/'])(
    'refuses an invalid root of Discord: %s',
    (root) => {
      const message = faults({ DISCORD_TOKEN: 't', DISCORD_API_URL: root });
      expect(message).toMatch(/DISCORD_API_URL: .*like https:\/\/discord\.com\/api$/m);
    },
  );

  it.each(['.', '..', 'a/b', 'a b', 'x'.repeat(15), 'x'.repeat(101)])(
    'refuses a path token that can be guessed or that a path cannot contain: %s',
    (token) => {
      expect(faults({ DISCORD_TOKEN: 't', RECEIVER_TOKEN: token })).toMatch(/RECEIVER_TOKEN: .*openssl rand -hex 24/);
    },
  );

  it('refuses a file with a byte order mark, which would hide the first value', () => {
    const message = faults({ DISCORD_TOKEN: 't', '\uFEFFRECEIVER_SOURCE_CHECK': 'off' });
    expect(message).toMatch(/- RECEIVER_SOURCE_CHECK: .*byte order mark/);
  });

  it('refuses one port for both listeners', () => {
    expect(faults({ DISCORD_TOKEN: 't', PORT: '9464' })).toContain('- OPS_PORT: 9464 is also the receiver');
    for (const all of [{ HOST: '0.0.0.0' }, { HOST: '::' }, { OPS_HOST: '0.0.0.0' }]) {
      expect(faults({ DISCORD_TOKEN: 't', PORT: '9464', ...all })).toContain('- OPS_PORT: 9464 is also the receiver');
    }
    const elsewhere = { DISCORD_TOKEN: 't', PORT: '9464', HOST: '10.0.0.1' };
    const otherFamily = { ...elsewhere, HOST: '0.0.0.0', OPS_HOST: '::1' };
    for (const environment of [elsewhere, otherFamily, { DISCORD_TOKEN: 't', PORT: '0', OPS_PORT: '0' }])
      readConfig(environment);
  });

  it.each(['10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', 'fe80::1%eth0/64x', '/8'])(
    'refuses an invalid range: %s',
    (range) => {
      const message = faults({ DISCORD_TOKEN: 't', TRUSTED_PROXIES: `127.0.0.1, ${range}` });
      expect(message).toContain(`TRUSTED_PROXIES: "${range}" is not an IP address or a CIDR range`);
    },
  );

  it('reports every invalid entry of a list', () => {
    const message = faults({ DISCORD_TOKEN: 't', RECEIVER_SOURCES: 'localhost,203.0.113.7 203.0.113.7:443 10/8' });
    const named = message.match(/(?<=RECEIVER_SOURCES: )\S+/g);
    expect(named).toEqual(['"localhost"', '"203.0.113.7:443"', '"10/8"']);
    expect(message).toContain('3 values are missing or wrong');
  });

  it('refuses a root with a query', () => {
    expect(faults({ DISCORD_TOKEN: 't', PUBLIC_URL: 'https://bell.example/?a=1' })).toContain(
      'PUBLIC_URL: must be a URL like',
    );
  });

  it.each(['DISCORD_API_URL', 'NOTIFICATION_URL', 'EXPLORER_API_URL', 'EXPLORER_URL', 'DISCOVERY_URL'])(
    'refuses a password in %s, which would never be sent and would be shown in links',
    (name) => {
      const message = faults({ DISCORD_TOKEN: 't', [name]: 'https://user:hush-hush@service.example/v0' });
      expect(message).toMatch(
        new RegExp(`- ${name}: must not contain a user name or password; use a URL like https://`),
      );
      expect(message).not.toContain('hush-hush');
      readConfig({ DISCORD_TOKEN: 't', [name]: 'https://service.example/@v0' });
    },
  );

  it('refuses a whole receiver URL as its root, without repeating the token in it', () => {
    const message = faults({ DISCORD_TOKEN: 't', PUBLIC_URL: 'https://bell.example/hooks/hush-hush' });
    expect(message).toMatch(/PUBLIC_URL: must not contain \/hooks.*like https:\/\/bot\.example$/m);
    expect(message).not.toContain('hush-hush');
  });

  it('refuses a role that is unknown, and a single one where there is one process', () => {
    const several = { DISCORD_TOKEN: 't', DATABASE_URL: 'postgres://bell:hush-hush@db.example/bell' };
    expect(readConfig({ ...several, ROLES: 'receive' }).ROLES).toEqual(['receive']);
    expect(readConfig(several).ROLES).toEqual(['receive', 'work']);
    expect(faults({ ...several, ROLES: 'receive,send' })).toMatch(
      /ROLES: must be receive, work, or both: receive,work$/m,
    );
    expect(faults({ DISCORD_TOKEN: 't', ROLES: 'work' })).toMatch(
      /ROLES: with an SQLite file one process does everything; leave it out, or set DATABASE_URL to postgres:/,
    );
    const message = faults({ ...several, DATABASE_URL: 'postgres://bell:hush#hush@db.example:port/bell' });
    expect(message).toMatch(/DATABASE_URL: must be .* a URL like postgres:\/\/ledgerbell@db\.example\/ledgerbell/);
    expect(message).not.toContain('hush');
  });

  it('refuses a database path that may or may not begin at the root', () => {
    expect(faults({ DISCORD_TOKEN: 't', DATABASE_URL: 'sqlite://data/bell.sqlite' })).toMatch(
      /DATABASE_URL: must be sqlite: and a path, like sqlite:data\/ledgerbell\.sqlite/,
    );
    expect(databaseFile(readConfig({ DISCORD_TOKEN: 't', DATABASE_URL: 'sqlite:///srv/b.sqlite' }))).toBe(
      '/srv/b.sqlite',
    );
  });

  it.each([
    ['PORT', 'http', 'must be a port number from 0 to 65535'],
    ['OPS_PORT', '-1', 'must be a port number from 0 to 65535'],
    [
      'RECEIVER_SOURCES',
      ' , ',
      'must list IP addresses or CIDR ranges; to turn the check off, leave it out and set RECEIVER_SOURCE_CHECK=off',
    ],
    ['RECEIVER_SOURCE_CHECK', 'Enforce', 'must be enforce, report or off'],
    ['NOTIFICATION_URL', 'service.example/v0', 'must be a URL like https://service.example/v0'],
    ['EXPLORER_API_URL', 'ftp://service.example/v0', 'must be a URL like https://service.example/v0'],
    ['EXPLORER_ADDRESS_PARAM', 'contract address', 'must be the name of a query parameter'],
    ['EXPLORER_URL', 'explorer', 'must be a URL like https://explorer.example'],
    [
      'PUBLIC_URL',
      'https://hush:hush@bot.example',
      'must not contain a user name or password; use a URL like https://bot.example',
    ],
    ['DISCOVERY_URL', '//service.example', 'must be a URL like https://service.example'],
    ['OPERATOR_GUILD_IDS', 'Harbor DAO', 'must be server IDs like 112233445566778899, separated by commas'],
    ['MAX_SUBSCRIPTIONS', '0', 'must be a number from 1 to 999999999'],
    ['NATIVE_SYMBOL', 'x'.repeat(17), 'must have at most 16 characters'],
    ['LOG_LEVEL', 'verbose', 'must be trace, debug, info, warn, error, fatal or silent'],
    ['SECRETS_KEY', 'hush-hush,hush', 'openssl rand -base64 32'],
  ])('refuses %s=%s and shows what a right value looks like', (name, value, like) => {
    const message = faults({ DISCORD_TOKEN: 't', [name]: value });
    expect(message).toContain('one value is missing or wrong');
    expect(message.split('\n').find((line) => line.startsWith(`  - ${name}: `))).toContain(like);
    expect(message).not.toContain('hush');
  });

  it.each([
    [{ RECEIVER_SOURCES: '10.0.0.0/8', TRUSTED_PROXIES: '10.1.1.1' }],
    [{ RECEIVER_SOURCES: '10.1.1.1', TRUSTED_PROXIES: '10.0.0.0/8' }],
  ])('refuses proxies that overlap the sources: %j', (environment) => {
    expect(faults({ PORT: 'x', ...environment })).toMatch(
      /PORT:.*TRUSTED_PROXIES:.*overlaps.*remove it from one of the two/s,
    );
  });

  it('ends the start with code 78 after a wrong value', () => {
    const { status, stderr } = spawnSync(process.execPath, ['src/main.ts'], {
      cwd: new URL('..', import.meta.url),
      env: { PATH: process.env.PATH, PORT: 'x' },
      encoding: 'utf8',
    });
    expect(status).toBe(78);
    expect(stderr).toContain('DISCORD_TOKEN');
    expect(stderr).toContain('PORT');
    expect(stderr).toContain('npm run sandbox');
  });
});

describe('NOTIFICATION_SIGNING_SECRET', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  it('accepts one signing secret, or two during a rotation', () => {
    const read = (value: string) =>
      readConfig({ DISCORD_TOKEN: 't', NOTIFICATION_SIGNING_SECRET: value }).NOTIFICATION_SIGNING_SECRET;
    expect(read(secret)).toEqual([secret]);
    expect(read(`${secret}, ${secret}`)).toEqual([secret, secret]);
    expect(read('')).toBeUndefined();
  });

  it.each([secret.replace('whsec_', ''), 'whsec_short', `${secret},${secret},${secret}`, `${secret},other`])(
    'refuses %s as a signing secret without showing it',
    (value) => {
      const message = faults({ DISCORD_TOKEN: 't', NOTIFICATION_SIGNING_SECRET: value });
      expect(message).toContain('NOTIFICATION_SIGNING_SECRET: must be whsec_');
      expect(message).not.toContain(value);
    },
  );
});
