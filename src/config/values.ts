import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { SIGNING_SECRET } from '../domain/project.ts';

/** The kinds of values that variables have: each checks its text and says what a right value looks like. */

export interface IpRanges extends BlockList {
  /** As they were written. */
  entries: readonly string[];
}

/** A value without the blanks around it, which are never intended; undefined if nothing is left. */
export const given = (value: unknown) => (typeof value === 'string' ? value.trim() || undefined : value);
export const optional = <T extends z.ZodType>(type: T) => z.preprocess(given, type.optional());
export const withDefault = <T extends z.ZodType>(type: T, fallback: string) =>
  z.preprocess((value) => given(value) ?? fallback, type);
export const oneOf = <const T extends readonly string[]>(values: T, expected: string) =>
  z.enum(values, { error: expected });

/** 0: any free one. */
export const port = z
  .string()
  .regex(/^\d+$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65535, 'must be a port number from 0 to 65535');
const urlLike = (example: string) =>
  z
    .string()
    // Paths are appended to it, which does not work after a `?` or `#`.
    .refine((value) => /^https?:\/\/[^?#]*$/.test(value) && URL.canParse(value), `must be a URL like ${example}`)
    .transform((value) => value.replace(/\/+$/, ''));
/** A password in the URL would not be sent, but would be shown in links. */
export const openUrl = (example: string) =>
  urlLike(example).refine(
    (value) => !/\/\/[^/]*@/.test(value),
    `must not contain a user name or password; use a URL like ${example}`,
  );
export const url = openUrl('https://service.example/v0');
export const publicUrl = openUrl('https://bot.example').refine(
  (value) => !/\/hooks(\/|$)/.test(value),
  'must not contain /hooks, which the bot adds itself; use a URL like https://bot.example',
);
/** The library appends the version, so a version in this value would break every request. */
export const discordUrl = openUrl('https://discord.com/api').refine(
  (value) => !/\/api\/v\d+$/.test(value),
  'must not contain the version; use a URL like https://discord.com/api',
);
/** Sent as a header: any other character would make every request fail. */
export const credential = (expected: string) =>
  z.string({ error: `required: ${expected}` }).regex(/^[!-~]+$/, `must be ${expected}, without spaces`);
/** The URLs may contain keys, in the path or behind a `?`. */
export const nodeUrls = z
  .string()
  .transform(split)
  .refine(
    (urls) => urls.length > 0 && urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)),
    'must be URLs like https://node.example, separated by commas',
  );
export const confirmations = z
  .string()
  .regex(/^(finalized|safe|0|[1-9]\d{0,5})$/, 'must be finalized, safe or a number of blocks')
  .transform((value) => (value === 'finalized' || value === 'safe' ? value : Number(value)));
export const count = (min: 0 | 1) =>
  z
    .string()
    .regex(min === 1 ? /^[1-9]\d{0,8}$/ : /^(0|[1-9]\d{0,8})$/, `must be a number from ${min} to 999999999`)
    .transform(Number);
export const guildIds = z
  .string()
  .transform(split)
  .refine(
    (ids) => ids.every((id) => /^\d{1,20}$/.test(id)),
    'must be server IDs like 112233445566778899, separated by commas',
  );
export const ipRanges = z.string().transform((value, context): IpRanges => {
  const entries = split(value);
  const blocks = new BlockList();
  for (const entry of entries) {
    if (add(blocks, entry)) continue;
    const message = `"${entry.slice(0, 60)}" is not an IP address or a CIDR range like 203.0.113.0/24`;
    context.addIssue({ code: 'custom', message });
  }
  return Object.assign(blocks, { entries });
});
/** The current key first. */
export const sealKeys = z
  .string()
  .transform((value) => split(value).map((key) => Buffer.from(key, 'base64')))
  .refine(
    (keys) => keys.length > 0 && keys.every((key) => key.length === 32),
    'must be 32 bytes in base64 (openssl rand -base64 32); to change the key, set the new key, a comma and the old key',
  );

export const signingSecrets = z
  .string()
  .transform(split)
  .refine(
    (secrets) => secrets.length >= 1 && secrets.length <= 2 && secrets.every((secret) => SIGNING_SECRET.test(secret)),
    'must be whsec_ and the base64 of 24 to 64 bytes (echo whsec_$(openssl rand -base64 32)); two, separated by a comma, while you change it',
  );

/** Also accepts an IPv6 address in its URL form. */
export const host = z.string().transform((value) => value.replace(/^\[(.*)\]$/, '$1'));

function split(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .map((entry) => entry.trim())
    .filter(Boolean);
}

function add(blocks: BlockList, entry: string): boolean {
  const [ip = '', bits, ...rest] = entry.split('/');
  const family = isIP(ip);
  if (family === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  try {
    if (bits === undefined) blocks.addAddress(ip, type);
    else blocks.addSubnet(ip, Number(bits), type);
    return true;
  } catch {
    return false;
  }
}

export const ROLES = ['receive', 'work'] as const;
export const roles = z
  .string()
  .transform(split)
  .refine(
    (names): names is (typeof ROLES)[number][] =>
      names.length > 0 && names.every((name) => (ROLES as readonly string[]).includes(name)),
    'must be receive, work, or both: receive,work',
  );
