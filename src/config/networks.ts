import { readFileSync } from 'node:fs';
import { given } from './values.ts';

type Environment = Record<string, string | undefined>;

/** The fields of a network in the file, and the variable that describes the same without a file. */
const FIELDS = {
  nativeSymbol: 'NATIVE_SYMBOL',
  explorerUrl: 'EXPLORER_URL',
  explorerApiUrl: 'EXPLORER_API_URL',
  explorerAddressParam: 'EXPLORER_ADDRESS_PARAM',
  explorerApiKey: 'EXPLORER_API_KEY',
  discoveryUrl: 'DISCOVERY_URL',
  rpc: 'RPC_URL',
  rpcConfirmations: 'RPC_CONFIRMATIONS',
  rpcRate: 'RPC_RATE',
  pricesChain: 'PRICES_CHAIN',
  receiverToken: 'RECEIVER_TOKEN',
  sources: 'RECEIVER_SOURCES',
  'notification.url': 'NOTIFICATION_URL',
  'notification.projectId': 'NOTIFICATION_PROJECT_ID',
  'notification.apiKey': 'NOTIFICATION_API_KEY',
  'notification.apiSecret': 'NOTIFICATION_API_SECRET',
  'notification.signingSecret': 'NOTIFICATION_SIGNING_SECRET',
} as const;

export type NetworkVariable = (typeof FIELDS)[keyof typeof FIELDS];
export const NETWORK_VARIABLES: readonly NetworkVariable[] = Object.values(FIELDS);
const PLACES = Object.fromEntries(Object.entries(FIELDS).map(([field, variable]) => [variable, field]));

/** Replaces the names of variables in a text with those of the file's fields. */
export const namesOfFile = (text: string): string =>
  text.replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g, (word) => PLACES[word] ?? word);

interface FileNetwork {
  name: string;
  title: string;
  chainId: number;
  values: Partial<Record<NetworkVariable, string>>;
  /** Where a variable's value stands in the file, like `[0] (base) rpc`. */
  place(variable: NetworkVariable): string;
}

/** `secrets`: the variables that values like `env:NAME` refer to. */
interface NetworksFile {
  networks: FileNetwork[];
  faults: string[];
  secrets: string[];
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Faults name their place and no value. */
export function readNetworksFile(path: string, environment: Environment): NetworksFile {
  const secrets: string[] = [];
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What the engine says of wrong JSON repeats a part of it, which may be a secret.
    return { networks: [], faults: [code ? `the file cannot be read (${code})` : 'the file is not JSON'], secrets };
  }
  if (!Array.isArray(list) || list.length === 0) {
    return { networks: [], faults: ['must be a list with at least one network'], secrets };
  }
  const faults: string[] = [];
  const networks = list.map((entry: unknown, index) => {
    const fields = isObject(entry) ? entry : {};
    if (!isObject(entry)) faults.push(`[${index}]: must be an object`);
    const named = typeof fields.name === 'string' && /^[a-z0-9-]{1,32}$/.test(fields.name);
    const at = (field: string) => `[${index}]${named ? ` (${String(fields.name)})` : ''} ${field}`;
    const fault = (field: string, message: string) => faults.push(`${at(field)}: ${message}`);
    if (isObject(entry)) checkIdentity(fields, named, fault);
    const values: FileNetwork['values'] = {};
    for (const [field, value] of flatten(fields)) {
      const variable = FIELDS[field as keyof typeof FIELDS] as NetworkVariable | undefined;
      if (!variable) fault(field, 'is not a field of a network');
      else if (!isText(value)) fault(field, 'must be a text or a list of texts');
      else values[variable] = resolved(value, environment, secrets, (message) => fault(field, message));
    }
    const { name, title = name, chainId } = fields as { name: string; title?: string; chainId: number };
    return { name, title, chainId, values, place: (variable: NetworkVariable) => at(PLACES[variable]!) };
  });
  for (const field of ['name', 'chainId'] as const) {
    const seen = networks.map((network) => network[field]);
    networks.forEach((network, index) => {
      const first = seen.indexOf(network[field]);
      if (network[field] !== undefined && first < index) {
        faults.push(`[${index}] ${field}: is also that of [${first}]; each network needs its own`);
      }
    });
  }
  return { networks, faults, secrets };
}

function checkIdentity({ title, chainId }: Fields, named: boolean, fault: (field: string, message: string) => void) {
  if (!named) fault('name', 'required: 1 to 32 lower-case letters, digits and hyphens, like arbitrum');
  if (!Number.isSafeInteger(chainId) || (chainId as number) < 1) {
    fault('chainId', 'required: the chain’s number, like 42161');
  }
  if (title !== undefined && (typeof title !== 'string' || !/^(?=.{1,32}$)\S.*\S?$/u.test(title))) {
    fault('title', 'must be a text of 1 to 32 characters');
  }
}

const flatten = ({ name: _name, title: _title, chainId: _chainId, notification, ...rest }: Fields) => [
  ...Object.entries(rest),
  ...(isObject(notification)
    ? Object.entries(notification).map(([field, value]) => [`notification.${field}`, value] as const)
    : notification === undefined
      ? []
      : [['notification', notification] as const]),
];

const isText = (value: unknown): value is string | number | string[] =>
  typeof value === 'string' ||
  typeof value === 'number' ||
  (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));

function resolved(
  value: string | number | string[],
  environment: Environment,
  secrets: string[],
  fault: (message: string) => void,
): string {
  const texts = [value]
    .flat()
    .map(String)
    .map((text) => {
      const [, name] = /^env:(\w+)$/.exec(text) ?? [];
      if (name === undefined) return text;
      secrets.push(name);
      const secret = given(environment[name]);
      if (typeof secret === 'string') return secret;
      fault(`${name} is not set in the environment`);
      return '';
    });
  return texts.join(',');
}
