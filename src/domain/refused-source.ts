/**
 * The origin of a delivery that was refused for its source. `unlisted`: `source` is neither a source nor a trusted
 * proxy. `no-sender`: behind the trusted proxies there was no other address; `source` is the last of them. `unreadable`:
 * what the proxy sent is not an IP address.
 */
export type RefusedSource =
  | { reason: 'unlisted'; source: string }
  | { reason: 'no-sender'; source: string }
  | { reason: 'unreadable'; source: null };
