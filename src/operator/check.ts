import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { REST } from 'discord.js';
import { type Config, databaseFile, isPostgres } from '../config.ts';
import { invitation } from '../discord/invitation.ts';
import { systemClock } from '../domain/clock.ts';
import type { UNREACHABLE } from '../domain/reachability.ts';
import { parseAddress } from '../domain/typed-address.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { probeReceiver } from '../receiver/probe.ts';
import * as postgres from '../store/postgres/beside.ts';
import { shownUrl } from '../store/postgres/url.ts';
import { examine } from '../store/sqlite/examine.ts';
import { createDiscovery } from '../upstream/discovery.ts';
import { createExplorer } from '../upstream/explorer.ts';
import { createNotification } from '../upstream/notification.ts';
import { discordFault, openRest, readApplication } from './discord.ts';

/** `ledgerbell check`: everything that an operator could have wrong, each with a verdict and what to do. */

/** `off`: not set up, which may be intended. */
type Verdict = 'fine' | 'warning' | 'fault' | 'off';

/** The result of one check; `todo`: how to fix it. */
export interface Check {
  name: string;
  verdict: Verdict;
  found: string;
  todo?: string;
}

const MARKS: Record<Verdict, string> = { fine: '✔', warning: '!', fault: '✖', off: '–' };
/** With less free space, the database's disk may soon be full. */
const SCARCE_BYTES = 500 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;
/** Any address: the check passes whether or not the explorer knows it. */
const SAMPLE_TOKEN = parseAddress('0x00000000000000000000000000000000000000aa');

/** Runs all checks at once; returns the results in a fixed order. */
export async function checkAll(config: Config): Promise<Check[]> {
  return [
    { name: 'Configuration', verdict: 'fine', found: 'every value can be read' },
    ...(await Promise.all([
      isPostgres(config.DATABASE_URL) ? checkPostgres(config.DATABASE_URL) : checkFile(databaseFile(config)),
      checkDiscord(openRest(config)),
      checkNotification(config),
      checkExplorer(config),
      checkDiscovery(config),
      checkReceiver(config),
    ])),
  ];
}

/** The checks as lines for a terminal. */
export function render(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ name, verdict, found, todo }) => [
    `${MARKS[verdict]} ${name.padEnd(15)}${found}`,
    ...(todo === undefined ? [] : [`${' '.repeat(17)}→ ${todo}`]),
  ]);
  const faults = checks.filter(({ verdict }) => verdict === 'fault').length;
  const summary = faults === 0 ? 'Nothing is wrong.' : `Wrong: ${faults} of ${checks.length}.`;
  return [...lines, '', summary].join('\n');
}

async function checkPostgres(url: string): Promise<Check> {
  const name = 'Database';
  const shown = shownUrl(url);
  try {
    const { server, schema, newest, isWorking } = await postgres.examine(url);
    const words = `${shown}, Postgres ${server}, ${isWorking ? 'a process works on it' : 'no process works on it'}`;
    if (schema === 0)
      return {
        name,
        verdict: 'warning',
        found: `${shown}, Postgres ${server}, has no tables; the first start creates them`,
        todo: 'Expected some? Set the right database in DATABASE_URL.',
      };
    if (schema > newest)
      return {
        name,
        verdict: 'fault',
        found: `${words}, schema ${schema}`,
        todo: `This version knows schemas up to ${newest}: use the newer version that wrote the database.`,
      };
    return { name, verdict: 'fine', found: `${words}, schema ${schema}` };
  } catch (error) {
    return {
      name,
      verdict: 'fault',
      found: `${shown}: ${(error as Error).message}`,
      todo: 'Check that Postgres runs, that this machine reaches it, and the name and password in DATABASE_URL.',
    };
  }
}

async function checkFile(file: string): Promise<Check> {
  const name = 'Database';
  const found = examine(file);
  switch (found.status) {
    case 'absent':
      return {
        name,
        verdict: 'warning',
        found: `${file} does not exist; the first start creates it`,
        todo: 'Expected one? Set its path in DATABASE_URL.',
      };
    case 'damaged':
      return {
        name,
        verdict: 'fault',
        found: `${file} is damaged: ${found.reason}`,
        todo: 'Stop the bot and restore the newest backup: npm run restore -- <backup>',
      };
    case 'unusable':
      return {
        name,
        verdict: 'fault',
        found: `${file} cannot be read: ${found.reason}`,
        todo: 'Run this as the user that runs the bot.',
      };
    case 'sound': {
      const { schema, newest, inUse } = found;
      const size = `${(found.bytes / MEBIBYTE).toFixed(1)} MiB`;
      const words = `${file}, ${size}, schema ${schema}, no damage found, ${inUse ? 'a bot runs on it' : 'no bot runs on it'}`;
      if (schema > newest)
        return {
          name,
          verdict: 'fault',
          found: words,
          todo: `This version knows schemas up to ${newest}: use the newer version that wrote the file.`,
        };
      const free = await freeBytes(file);
      if (free < SCARCE_BYTES)
        return {
          name,
          verdict: 'warning',
          found: words,
          todo: `Only ${(free / MEBIBYTE).toFixed(0)} MiB are free on its disk: make room.`,
        };
      return { name, verdict: 'fine', found: words };
    }
  }
}

async function freeBytes(file: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize;
}

async function checkDiscord(rest: REST): Promise<Check> {
  const name = 'Discord';
  try {
    const { id, name: called, approximate_guild_count: guilds } = await readApplication(rest);
    const where = guilds === undefined ? '' : `, in about ${guilds} ${guilds === 1 ? 'server' : 'servers'}`;
    return {
      name,
      verdict: 'fine',
      found: `the token is ${called}'s${where}; no privileged intent is needed. Invitation: ${invitation(id)}`,
    };
  } catch (error) {
    return { name, verdict: 'fault', ...discordFault(error) };
  }
}

async function checkNotification(config: Config): Promise<Check> {
  const name = 'Notification';
  const { NOTIFICATION_URL: url, NOTIFICATION_PROJECT_ID: projectId } = config;
  const { NOTIFICATION_API_KEY: apiKey, NOTIFICATION_API_SECRET: apiSecret } = config;
  if (!url) return off(name, 'NOTIFICATION_URL');
  if (!projectId || !apiKey || !apiSecret) {
    return { name, verdict: 'off', found: 'no project of the operator; servers store their own with /setup project' };
  }
  const response = await createNotification({ url, projectId, apiKey, apiSecret, timeoutMs: 10_000 }).webhooks();
  if (response.status === 'ok')
    return { name, verdict: 'fine', found: `the project has ${response.webhooks.length} webhooks` };
  return failed(
    name,
    response,
    'NOTIFICATION_URL',
    'NOTIFICATION_PROJECT_ID, NOTIFICATION_API_KEY and NOTIFICATION_API_SECRET',
  );
}

async function checkExplorer(config: Config): Promise<Check> {
  const name = 'Explorer';
  const { EXPLORER_API_URL: url, EXPLORER_ADDRESS_PARAM: addressParam, EXPLORER_API_KEY: apiKey } = config;
  if (!url) return off(name, 'EXPLORER_API_URL');
  if (!SAMPLE_TOKEN.ok) throw new Error('The sample is not an address.');
  const explorer = createExplorer({ url, addressParam, apiKey, now: systemClock.now });
  const response = await explorer.token(SAMPLE_TOKEN.address);
  switch (response.status) {
    case 'found':
    case 'not-found':
    case 'invalid':
      return { name, verdict: 'fine', found: 'it responds' };
    default:
      return failed(name, response, 'EXPLORER_API_URL', 'EXPLORER_API_KEY');
  }
}

async function checkDiscovery({ DISCOVERY_URL: url }: Config): Promise<Check> {
  const name = 'Discovery';
  if (!url) return off(name, 'DISCOVERY_URL');
  const { live, keys } = await createDiscovery({ url, now: systemClock.now }).categories();
  if (live) return { name, verdict: 'fine', found: `it has ${keys.length} categories` };
  return { name, verdict: 'fault', found: 'it does not list its categories', todo: 'Check DISCOVERY_URL.' };
}

async function checkReceiver({ PUBLIC_URL: url }: Config): Promise<Check> {
  const name = 'Receiver';
  if (!url) {
    return {
      name,
      verdict: 'warning',
      found: 'PUBLIC_URL is not set: only services on this machine reach it',
      todo: 'Set PUBLIC_URL to the address at which your proxy forwards requests to the bot.',
    };
  }
  const found = await probeReceiver(url);
  switch (found.status) {
    case 'reachable':
      return { name, verdict: 'fine', found: `the bot responds at ${url}` };
    case 'other':
      return {
        name,
        verdict: 'fault',
        found: `something else responds at ${url} (HTTP ${found.code})`,
        todo: 'Let the proxy pass /hooks/ on to HOST and PORT, with the path as it is.',
      };
    case 'dns':
    case 'refused':
    case 'timeout':
    case 'untrusted':
    case 'expired':
    case 'wrong-name':
    case 'no-tls':
    case 'away': {
      const [why, todo] = UNREACHABLE_WORDS[found.status];
      return { name, verdict: 'fault', found: `${url} cannot be reached: ${why}`, todo };
    }
  }
}

/** Why the public address cannot be reached, and what to do. */
const UNREACHABLE_WORDS: Record<(typeof UNREACHABLE)[number], [why: string, todo: string]> = {
  dns: ['its name has no address', 'Check the spelling of PUBLIC_URL and the DNS record of its name.'],
  refused: ['the connection is refused', 'Start the proxy, then check its port and the firewall.'],
  timeout: ['nothing responds in time', 'Check the firewall, the DNS record and the proxy.'],
  untrusted: ['its certificate is not trusted', 'Use a certificate of a public authority, and send its full chain.'],
  expired: ['its certificate has expired or is not valid yet', 'Renew it, and check the clock of this machine.'],
  'wrong-name': ['its certificate is for another name', 'Use one for this name, or the right name in PUBLIC_URL.'],
  'no-tls': ['the server there does not support TLS', 'Check the port, and http:// or https:// in PUBLIC_URL.'],
  away: ['the connection fails', 'Start the bot, then check PUBLIC_URL, the proxy and the firewall.'],
};

const off = (name: string, variable: string): Check => ({ name, verdict: 'off', found: `off: ${variable} is not set` });

function failed(name: string, failure: UpstreamFailure, root: string, keys: string): Check {
  switch (failure.status) {
    case 'forbidden':
      return { name, verdict: 'fault', found: 'it refuses the key', todo: `Check ${keys}.` };
    case 'limited':
      return { name, verdict: 'warning', found: 'it limits requests now', todo: 'Try again in a minute.' };
    case 'timeout':
      return {
        name,
        verdict: 'fault',
        found: 'it did not respond in time',
        todo: `Check ${root}, and whether the service runs.`,
      };
    case 'unreachable':
      return {
        name,
        verdict: 'fault',
        found: 'it cannot be reached',
        todo: `Check ${root}, and whether the service runs.`,
      };
    case 'broken':
      return {
        name,
        verdict: 'fault',
        found: `it responds with HTTP ${failure.code}`,
        todo: `Check ${root}, or wait until the service is fixed.`,
      };
    case 'rejected':
    case 'unreadable':
      return {
        name,
        verdict: 'fault',
        found: 'its response is not one of this interface',
        todo: `Check ${root}: it must include the version segment, if there is one.`,
      };
  }
}
