import { isIP } from 'node:net';
import type { AddressList } from '../config.ts';

/** An address as it is compared: IPv4 without its `::ffff:` wrapping; null for what is no IP. */
function bare(text: string | undefined): string | null {
  const ip = (text ?? '').trim().replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(ip) === 0 ? null : ip;
}

/**
 * Who sent a request: the peer or, behind trusted proxies, the right-most address of `X-Forwarded-For` that is not one
 * of them. null when that entry is no IP.
 */
export function sourceAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: AddressList,
): string | null {
  const direct = bare(peer);
  if (direct === null || !trustedProxies.has(direct) || !forwardedFor) return direct;
  const hops = forwardedFor.split(',').map(bare).reverse();
  const sender = hops.find((hop) => hop === null || !trustedProxies.has(hop));
  return sender === undefined ? (hops.at(-1) ?? direct) : sender;
}
