import { namesOfFile } from '../config/networks.ts';
import { type Config, databaseFile, isPostgres, type NetworkConfig, shownUrl } from '../config.ts';
import { invitation } from '../discord/register.ts';
import { parseAddress } from '../domain/address.ts';
import { systemClock } from '../domain/clock.ts';
import type { UNREACHABLE } from '../domain/inbox.ts';
import { MIB } from '../domain/units.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { freeBytes } from '../limits.ts';
import { probeReceiver } from '../receiver/reachability.ts';
import * as postgres from '../store/postgres/open.ts';
import { examine } from '../store/sqlite/tools.ts';
import { createChain } from '../upstream/chain.ts';
import { createDiscovery } from '../upstream/discovery.ts';
import { createExplorer } from '../upstream/explorer.ts';
import { createNotification } from '../upstream/notification.ts';
import { createPrices } from '../upstream/prices.ts';
import { discordFault, readApplication } from './discord.ts';

/** `off`: not set up, which may be intended. */
type CheckStatus = 'fine' | 'warning' | 'fault' | 'off';

interface Finding {
  status: CheckStatus;
  found: string;
  todo?: string;
}

export interface Check extends Finding {
  name: string;
}

const MARKS: Record<CheckStatus, string> = { fine: '✔', warning: '!', fault: '✖', off: '–' };
const SCARCE_BYTES = 500 * MIB;
/** Any address: the check passes whether or not the explorer knows it. */
const SAMPLE_TOKEN = parseAddress('0x00000000000000000000000000000000000000aa');

const fine = (found: string): Finding => ({ status: 'fine', found });
const warning = (found: string, todo: string): Finding => ({ status: 'warning', found, todo });
const fault = (found: string, todo: string): Finding => ({ status: 'fault', found, todo });
const off = (variable: string): Finding => ({ status: 'off', found: `off: ${variable} is not set` });

export async function checkAll(config: Config): Promise<Check[]> {
  const isOnPostgres = isPostgres(config.DATABASE_URL);
  const checks: NamedCheck[] = [
    ['Configuration', fine('every value can be read')],
    ['Database', isOnPostgres ? checkPostgres(config.DATABASE_URL) : checkFile(databaseFile(config))],
    ['Discord', checkDiscord(config)],
    ...config.networks.flatMap(checkNetwork),
    ['Prices', checkPrices(config)],
    ['Receiver', checkReceiver(config)],
  ];
  return Promise.all(checks.map(async ([name, finding]) => ({ name, ...(await finding) })));
}

type NamedCheck = [name: string, finding: Finding | Promise<Finding>];

function checkNetwork(network: NetworkConfig): NamedCheck[] {
  const checks: NamedCheck[] = [
    ['Notification', checkNotification(network)],
    ['Explorer', checkExplorer(network)],
    ['Discovery', checkDiscovery(network)],
    ['Chain', checkChain(network)],
  ];
  if (network.name === '') return checks;
  return checks.map(([name, finding]) => [`${name} of ${network.name}`, inWordsOfFile(finding)]);
}

async function inWordsOfFile(finding: Finding | Promise<Finding>): Promise<Finding> {
  const { found, todo, ...rest } = await finding;
  return { ...rest, found: namesOfFile(found), ...(todo !== undefined && { todo: namesOfFile(todo) }) };
}

export function render(checks: readonly Check[]): string {
  const width = Math.max(13, ...checks.map(({ name }) => name.length)) + 2;
  const lines = checks.flatMap(({ name, status, found, todo }) => [
    `${MARKS[status]} ${name.padEnd(width)}${found}`,
    ...(todo === undefined ? [] : [`${' '.repeat(width + 2)}→ ${todo}`]),
  ]);
  const faults = checks.filter(({ status }) => status === 'fault').length;
  const summary = faults === 0 ? 'Nothing is wrong.' : `${faults} of ${checks.length} checks failed.`;
  return [...lines, '', summary].join('\n');
}

async function checkPostgres(url: string): Promise<Finding> {
  const shown = shownUrl(url);
  try {
    const { server, schema, newest, isWorking } = await postgres.examine(url);
    if (schema === 0)
      return warning(
        `${shown}, Postgres ${server}, has no tables; the first start creates them`,
        'If you expected some, set the right database in DATABASE_URL.',
      );
    const use = isWorking ? 'a process works on it' : 'no process works on it';
    const found = `${shown}, Postgres ${server}, ${use}, schema ${schema}`;
    if (schema > newest)
      return fault(found, `This version knows schemas up to ${newest}: use the newer version that wrote the database.`);
    return fine(found);
  } catch (error) {
    return fault(
      `${shown}: ${(error as Error).message}`,
      'Check that Postgres runs, that this machine reaches it, and the name and password in DATABASE_URL.',
    );
  }
}

async function checkFile(file: string): Promise<Finding> {
  const examined = examine(file);
  switch (examined.status) {
    case 'absent':
      return warning(
        `${file} does not exist; the first start creates it`,
        'If you expected one, set its path in DATABASE_URL.',
      );
    case 'damaged':
      return fault(
        `${file} is damaged: ${examined.reason}`,
        'Stop the bot and restore the newest backup: npm run restore -- <backup>',
      );
    case 'unusable':
      return fault(`${file} cannot be read: ${examined.reason}`, 'Run this as the user that runs the bot.');
    case 'sound': {
      const { schema, newest, inUse } = examined;
      const size = `${(examined.bytes / MIB).toFixed(1)} MiB`;
      const use = inUse ? 'a bot runs on it' : 'no bot runs on it';
      const found = `${file}, ${size}, schema ${schema}, no damage found, ${use}`;
      if (schema > newest)
        return fault(found, `This version knows schemas up to ${newest}: use the newer version that wrote the file.`);
      const free = await freeBytes(file).catch(() => null);
      if (free === null) return warning(found, 'The disk does not report its free space: check it yourself.');
      if (free < SCARCE_BYTES)
        return warning(found, `Only ${(free / MIB).toFixed(0)} MiB are free on its disk: free up space.`);
      return fine(found);
    }
  }
}

async function checkDiscord(config: Config): Promise<Finding> {
  try {
    const { id, name, approximate_guild_count: guilds } = await readApplication(config);
    const where = guilds === undefined ? '' : `, in about ${guilds} ${guilds === 1 ? 'server' : 'servers'}`;
    return fine(`the token is ${name}'s${where}; no privileged intent is needed. Invitation: ${invitation(id)}`);
  } catch (error) {
    const { found, todo } = discordFault(error);
    return fault(found, todo);
  }
}

async function checkNotification(network: NetworkConfig): Promise<Finding> {
  const { NOTIFICATION_URL: url, NOTIFICATION_PROJECT_ID: projectId } = network;
  const { NOTIFICATION_API_KEY: apiKey, NOTIFICATION_API_SECRET: apiSecret } = network;
  if (!url) return off('NOTIFICATION_URL');
  if (!projectId || !apiKey || !apiSecret) {
    return { status: 'off', found: 'no project of the operator; servers store their own with /setup project' };
  }
  const response = await createNotification({ url, projectId, apiKey, apiSecret, timeoutMs: 10_000 }).webhooks();
  if (response.status === 'ok') return fine(`webhooks of the project: ${response.webhooks.length}`);
  const keys = 'NOTIFICATION_PROJECT_ID, NOTIFICATION_API_KEY and NOTIFICATION_API_SECRET';
  return failed(response, 'NOTIFICATION_URL', keys);
}

async function checkExplorer(network: NetworkConfig): Promise<Finding> {
  const { EXPLORER_API_URL: url, EXPLORER_ADDRESS_PARAM: addressParam, EXPLORER_API_KEY: apiKey } = network;
  if (!url) return off('EXPLORER_API_URL');
  if (!SAMPLE_TOKEN.ok) throw new Error('The sample is not an address.');
  const explorer = createExplorer({ url, addressParam, apiKey, now: systemClock.now });
  const response = await explorer.token(SAMPLE_TOKEN.address);
  switch (response.status) {
    case 'found':
    case 'not-found':
    case 'invalid':
      return fine('it responds');
    default:
      return failed(response, 'EXPLORER_API_URL', 'EXPLORER_API_KEY');
  }
}

async function checkDiscovery({ DISCOVERY_URL: url }: NetworkConfig): Promise<Finding> {
  if (!url) return off('DISCOVERY_URL');
  const { live, keys } = await createDiscovery({ url, ...systemClock }).categories();
  if (live) return fine(`it has ${keys.length} categories`);
  return fault('it does not list its categories', 'Check DISCOVERY_URL.');
}

async function checkChain({
  RPC_URL: urls,
  RPC_CONFIRMATIONS: confirmations,
  RPC_RATE: rate,
  chainId,
}: NetworkConfig): Promise<Finding> {
  if (!urls) return off('RPC_URL');
  // The URLs may contain keys: nodes are named by their place.
  const found = await Promise.all(
    urls.map(async (url, index) => {
      const chain = createChain({ urls: [url], rate, clock: systemClock });
      try {
        const [id, { number }] = [await chain.chainId(), await chain.settled(confirmations)];
        return { id, text: `node ${index + 1}: chain ${id}, settled block ${number}` };
      } catch (error) {
        return { id: null, text: `node ${index + 1} does not answer ${(error as Error).message}` };
      }
    }),
  );
  const text = found.map((line) => line.text).join('; ');
  if (found.some(({ id }) => id === null)) return fault(text, 'Check RPC_URL, and whether the nodes run.');
  if (new Set(found.map(({ id }) => id)).size > 1) return fault(text, 'Set nodes of one chain in RPC_URL.');
  if (chainId !== null && found[0]!.id !== String(chainId))
    return fault(text, `Set nodes of chain ${chainId} in RPC_URL, or the right chainId.`);
  return fine(text);
}

async function checkPrices({ PRICES_URL: url, networks }: Config): Promise<Finding> {
  if (!url) return off('PRICES_URL');
  let failure: UpstreamFailure | null = null;
  const prices = createPrices({ url, clock: systemClock, onResponse: (outcome) => (failure = outcome) });
  const chains = networks.flatMap(({ PRICES_CHAIN: chain }) => chain ?? []);
  await Promise.all(chains.map((chain) => prices.on(chain).ask(['native'])));
  prices.close();
  if (failure) return failed(failure, 'PRICES_URL', 'PRICES_URL');
  const without = chains.filter((chain) => prices.on(chain).of('native', 18) === null);
  if (without.length === 0) return fine(`it has a price for the coin of ${chains.join(', ')}`);
  return warning(
    `it has no current price for the coin of ${without.join(', ')}`,
    `Check ${networks[0]!.name === '' ? 'PRICES_CHAIN' : namesOfFile('PRICES_CHAIN')}: it is the source's name for the chain, like ethereum.`,
  );
}

async function checkReceiver({ PUBLIC_URL: url }: Config): Promise<Finding> {
  if (!url) {
    return warning(
      'PUBLIC_URL is not set: only services on this machine reach it',
      'Set PUBLIC_URL to the address at which your proxy forwards requests to the bot.',
    );
  }
  const reached = await probeReceiver(url);
  if (reached.status === 'reachable') return fine(`the bot responds at ${url}`);
  if (reached.status === 'other') {
    return fault(
      `something else responds at ${url} (HTTP ${reached.code})`,
      'Let the proxy pass /hooks/ on to HOST and PORT, with the path as it is.',
    );
  }
  const [why, todo] = UNREACHABLE_WORDS[reached.status];
  return fault(`${url} cannot be reached: ${why}`, todo);
}

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

/** `root` and `keys`: the variables that may be wrong. */
function failed(failure: UpstreamFailure, root: string, keys: string): Finding {
  switch (failure.status) {
    case 'forbidden':
      return fault('it refuses the key', `Check ${keys}.`);
    case 'limited':
      return warning('it is rate-limiting requests', 'Try again in a minute.');
    case 'timeout':
      return fault('it did not respond in time', `Check ${root}, and whether the service runs.`);
    case 'unreachable':
      return fault('it cannot be reached', `Check ${root}, and whether the service runs.`);
    case 'broken':
      return fault(`it responds with HTTP ${failure.code}`, `Check ${root}, or wait until the service is fixed.`);
    case 'rejected':
    case 'unreadable':
      return fault(
        'its response is not one of this interface',
        `Check ${root}: it must include the version segment, if there is one.`,
      );
  }
}
