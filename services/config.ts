import { z } from 'zod';
import type { Project } from './notification/types.ts';

/** What a variable names cannot be used, which only shows when it is tried; the message tells which and why. */
export class Misconfigured extends Error {}

const projects = z.string().transform((text, context): Project[] =>
  text
    .split(',')
    .filter((one) => one.trim() !== '')
    .map((one) => {
      const [id, key, secret, ...rest] = one.trim().split(':');
      if (!id || !key || !secret || rest.length > 0) {
        context.addIssue({ code: 'custom', message: 'must be id:key:secret, several separated by commas' });
      }
      return { id: id ?? '', key: key ?? '', secret: secret ?? '' };
    }),
);

const number = (least: number, most: number, preset: number) =>
  z.coerce
    .number({ error: `must be a number from ${least} to ${most}` })
    .int()
    .min(least)
    .max(most)
    .default(preset);

const schema = z.object({
  RPC_URL: z.url({ protocol: /^https?$/, error: "must be a node's JSON-RPC URL, e.g. http://127.0.0.1:8545" }),
  HOST: z.string().default('127.0.0.1'),
  PORT: number(0, 65_535, 8090),
  DATA_DIR: z.string().default('data/services'),
  PROJECTS: projects.default([]),
  NATIVE_SYMBOL: z.string().max(32, 'must have at most 32 characters').default('NATIVE'),
  POLL_MS: number(50, 600_000, 1000),
  CATALOGED: z
    .string()
    .transform((text) => text.split(',').map((one) => one.trim()))
    .pipe(z.array(z.string().regex(/^(0x[0-9a-fA-F]{40})?$/, 'must be addresses separated by commas')))
    .default([]),
  PROVIDERS_FILE: z.string().optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, silent',
    })
    .default('info'),
});

/** What the services are told by the environment. */
export type Config = z.infer<typeof schema>;

/** Reads the environment; an empty value counts as not set. Faults name the variables, never their values. */
export function readConfig(
  environment: Record<string, string | undefined>,
): { ok: true; config: Config } | { ok: false; faults: string[] } {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, config: parsed.data };
  return { ok: false, faults: parsed.error.issues.map(({ path, message }) => `${path[0]?.toString()} ${message}`) };
}
