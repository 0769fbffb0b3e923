import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';
import { SECOND } from '../src/domain/clock.ts';
import { SIGNING_SECRET } from '../src/domain/project.ts';
import type { NodeOptions } from './chain/member.ts';
import { CREDENTIALS_FAULT, hasReadableCredentials } from './credentials.ts';
import { isRange } from './notification/egress.ts';
import type { Project } from './notification/types.ts';

export class Misconfigured extends Error {}

const RPC_FAULT = "must be a node's JSON-RPC URL, e.g. http://127.0.0.1:8545";
const SIGNING_FAULT = 'must be whsec_ and the base64 of 24 to 64 bytes';

const partsOf = (text: string) => text.split(',').flatMap((part) => part.trim() || []);

const projects = z.string().transform((text, context): Project[] =>
  partsOf(text).map((part) => {
    const [id = '', key = '', secret = '', ...signingSecrets] = part.split(':');
    const fault = (message: string) => context.addIssue({ code: 'custom', message });
    if (!id || !key || !secret || signingSecrets.length > 2) {
      fault('must be id:key:secret or id:key:secret:whsec_…, several separated by commas');
    }
    if (!signingSecrets.every((signingSecret) => SIGNING_SECRET.test(signingSecret)))
      fault(`has a signing secret that ${SIGNING_FAULT}`);
    return { id, key, secret, signingSecrets };
  }),
);

export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
};

const nodeUrl = z.url({ protocol: /^https?$/, error: RPC_FAULT }).refine(hasReadableCredentials, CREDENTIALS_FAULT);
const nodeUrls = z.string().transform(partsOf).pipe(z.array(nodeUrl).min(1, RPC_FAULT));
const socketUrl = z.url({ protocol: /^wss?$/, error: 'must be a ws or wss URL' });
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be addresses separated by commas');

const range = z
  .string()
  .refine(isRange, 'must be IP addresses and CIDRs separated by commas, e.g. 127.0.0.1,10.0.0.0/8');

const projectFile = z.array(
  z.strictObject({
    id: z.string().min(1),
    key: z.string().min(1),
    secret: z.string().min(1),
    otherSecrets: z.array(z.string().min(1)).exactOptional(),
    signingSecrets: z.array(z.string().regex(SIGNING_SECRET, SIGNING_FAULT)).max(2).exactOptional(),
  }),
);

const node = z.union([
  nodeUrl.transform((url): NodeOptions => ({ url })),
  z.strictObject({
    url: nodeUrl,
    weight: z.number().min(0).exactOptional(),
    headers: z.record(z.string(), z.string()).exactOptional(),
    tracesOnly: z.boolean().exactOptional(),
  }),
]);

const chainFile = z.array(
  z.strictObject({
    name: z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -'),
    rpc: z.array(node).min(1),
    ws: socketUrl.exactOptional(),
    nativeSymbol: z.string().max(32).exactOptional(),
    cataloged: z.array(address).exactOptional(),
    perSecond: z.number().positive().exactOptional(),
    batch: z.int().min(1).max(1000).exactOptional(),
    agreement: z.int().min(1).exactOptional(),
  }),
);

const schema = z.object({
  RPC_URL: nodeUrls.optional(),
  RPC_TRACE_URL: nodeUrls.optional(),
  RPC_WS_URL: socketUrl.optional(),
  RPC_RATE: wholeNumber(1, 100_000).optional(),
  RPC_BATCH: wholeNumber(1, 1000).default(1),
  RPC_AGREEMENT: wholeNumber(1, 10).default(1),
  CHAINS_FILE: z.string().optional(),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(8090),
  DATA_DIR: z.string().default('data/services'),
  PROJECTS: projects.default([]),
  PROJECTS_FILE: z.string().optional(),
  WEBHOOK_ALLOW: z.string().transform(partsOf).pipe(z.array(range)).default([]),
  NATIVE_SYMBOL: z.string().max(32, 'must have at most 32 characters').default('NATIVE'),
  STRICT: z.enum(['0', '1'], { error: 'must be 0 or 1' }).default('0'),
  POLL_MS: wholeNumber(50, 600_000).default(1000),
  CATALOGED: z.string().transform(partsOf).pipe(z.array(address)).default([]),
  PROVIDERS_FILE: z.string().optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, silent',
    })
    .default('info'),
});

/** An empty value counts as not set. Faults name the variables, never their values. */
export function readConfig(environment: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  const hasChain = (given.RPC_URL === undefined) !== (given.CHAINS_FILE === undefined);
  const missing = hasChain ? [] : [`RPC_URL ${RPC_FAULT}, unless CHAINS_FILE names several chains`];
  if (parsed.success && hasChain) return { ok: true as const, config: parsed.data };
  const faults = parsed.error?.issues.map(({ path, message }) => `${path[0]?.toString()} ${message}`) ?? [];
  return { ok: false as const, faults: [...new Set([...missing, ...faults])] };
}

const readProjects = (path: string): Project[] => readJson('PROJECTS_FILE', path, projectFile);

/** A changed file that cannot be read changes nothing. @throws {Misconfigured} when it cannot be read at first. */
export function followProjects(path: string, fixed: readonly Project[], log: Logger) {
  let projects = [...fixed, ...readProjects(path)];

  function look(): void {
    try {
      projects = [...fixed, ...readProjects(path)];
      log.info({ projects: projects.length }, 'the projects file changed');
    } catch (error) {
      log.error({ err: error }, 'cannot read the changed projects file: keeping the current projects');
    }
  }

  watchFile(path, { interval: 2 * SECOND }, look);
  return { list: (): readonly Project[] => projects, stop: () => unwatchFile(path, look) };
}

export function readChainsFile(path: string): z.infer<typeof chainFile> {
  const chains = readJson('CHAINS_FILE', path, chainFile);
  if (new Set(chains.map(({ name }) => name)).size < chains.length) {
    throw new Misconfigured(`CHAINS_FILE ${path}: two chains have the same name`);
  }
  return chains;
}

function readJson<Output>(variable: string, path: string, shape: z.ZodType<Output>): Output {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Misconfigured(`${variable} ${path} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
  const parsed = shape.safeParse(content);
  if (parsed.success) return parsed.data;
  // Paths only: a message may repeat a secret.
  const faults = parsed.error.issues.map(({ path: place, code }) => `${place.join('.') || 'the whole file'} (${code})`);
  throw new Misconfigured(`${variable} ${path} has faults at ${faults.slice(0, 10).join(', ')}`);
}
