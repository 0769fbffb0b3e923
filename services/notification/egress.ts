import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { Agent, buildConnector } from 'undici';

export type Egress = ReturnType<typeof createEgress>;

class AddressForbidden extends Error {
  readonly code = 'ADDRESS_FORBIDDEN';

  constructor(host: string) {
    super(`${host} is a private address; WEBHOOK_ALLOW names those that deliveries may go to`);
  }
}

const MAX_CONNECTIONS = 32;

/** Ranges that are not the public internet: private, loopback, link-local, shared, reserved, multicast, and tunnels to them. */
const PRIVATE_RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

export function isRange(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const max = isIPv4(address) ? 32 : 128;
  return isIP(address) !== 0 && rest.length === 0 && /^\d+$/.test(prefix) && Number(prefix) <= max;
}

export function createEgress(allowed: readonly string[], lookup: typeof dnsLookup = dnsLookup) {
  const priv = listOf(PRIVATE_RANGES);
  const allow = listOf(allowed);

  /** An IPv4 address written as IPv6 counts as IPv4. */
  function permits(ip: string): boolean {
    const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
    return isIP(ip) !== 0 && (allow.check(ip, family) || !priv.check(ip, family));
  }

  const connect = buildConnector({ lookup: guardedLookup(permits, lookup) } as buildConnector.BuildOptions);
  return {
    permits,
    /** Checks the address at each connection, so a changed DNS record does not help. */
    agent: () =>
      new Agent({
        connections: MAX_CONNECTIONS,
        connect(options, callback) {
          const host = options.hostname.replace(/^\[|\]$/g, '');
          if (isIP(host) !== 0 && !permits(host)) callback(new AddressForbidden(host), null);
          else connect(options, callback);
        },
      }),
  };
}

type LookedUp = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

function guardedLookup(permits: (ip: string) => boolean, lookup: typeof dnsLookup) {
  return (hostname: string, options: { all?: boolean; family?: number | string }, callback: LookedUp): void => {
    lookup(hostname, { ...options, all: true, family: Number(options.family ?? 0) || 0 }, (error, found) => {
      if (error !== null) return callback(error);
      const usable = found.filter(({ address }) => permits(address));
      if (usable.length === 0) return callback(new AddressForbidden(hostname));
      if (options.all === true) return callback(null, usable);
      return callback(null, usable[0]!.address, usable[0]!.family);
    });
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
