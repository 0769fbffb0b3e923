import { isIP } from 'node:net';
import { isAddress, zeroAddress } from 'viem';
import { z } from 'zod';
import { SENTINEL_ADDRESS } from '../chain/transfers.ts';
import { CREDENTIALS_FAULT, hasReadableCredentials } from '../credentials.ts';
import { EVENT_TYPES } from './types.ts';

const MAX_ADDRESSES = 10_000;
const MAX_PARALLEL = 16;
const MAX_CONFIRMATIONS = 10_000;

const text = z.string({ error: 'must be a string' });

const anyAddress = text
  .transform((given) => given.replace(/^0X/, '0x'))
  .refine((given) => isAddress(given, { strict: false }), 'is not an address: 0x and 40 hex digits')
  .describe('0x and 40 hex digits, in any case');

const watchableAddress = anyAddress
  // Watching one of them would match every coin transfer, or every mint and burn.
  .refine(
    (given) => ![zeroAddress, SENTINEL_ADDRESS.toLowerCase()].includes(given.toLowerCase()),
    'cannot be watched: it takes part in too many transfers',
  );

const listOf = (address: z.ZodType<string>) =>
  z
    .array(address, { error: 'must be an array of addresses' })
    .min(1, 'must hold at least one address')
    .max(MAX_ADDRESSES, `must hold at most ${MAX_ADDRESSES.toLocaleString('en-US')} addresses`);
const addresses = listOf(watchableAddress);

const whole = (min: number, max: number, error: string) => z.int(error).min(min, error).max(max, error);
const block = whole(0, Number.MAX_SAFE_INTEGER, 'must be a block number');

const CONFIRMATIONS = `must be a number from 0 to ${MAX_CONFIRMATIONS}, "safe" or "finalized"`;
const confirmations = z
  .union([whole(0, MAX_CONFIRMATIONS, CONFIRMATIONS), z.enum(['safe', 'finalized'], CONFIRMATIONS)], CONFIRMATIONS)
  .describe('How many blocks must follow an event’s block before it is sent');

const FAILED = { error: 'must be "all" or an array of ids' };
const OBJECT = { error: 'The body must be a JSON object' };

/** The bodies, by operation ID. `permits` decides which literal IP addresses a receiver may have. */
export function notificationSchemas(nativeSymbol: string, permits: (ip: string) => boolean) {
  const receiverUrl = z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2048, 'must have at most 2,048 characters')
    .refine(hasReadableCredentials, CREDENTIALS_FAULT)
    .refine((url) => isReachable(url, permits), 'must not be a private address: WEBHOOK_ALLOW names the allowed ones');
  const names = [...new Set([...EVENT_TYPES, nativeSymbol])];
  const eventType = z
    .enum(names as [string, ...string[]], { error: `must be one of ${names.join(', ')}` })
    .transform((name) => EVENT_TYPES.find((type) => type === name) ?? 'NATIVE');
  const options = {
    confirmations: confirmations.optional(),
    withdrawals: z
      .boolean({ error: 'must be true or false' })
      .describe('Send a follow-up with removed: true when an event’s block leaves the chain')
      .optional(),
    parallel: whole(1, MAX_PARALLEL, `must be a number from 1 to ${MAX_PARALLEL}`)
      .describe('How many deliveries may be under way at the same time')
      .optional(),
    fromBlock: block.nullable().describe('Addresses added later are replayed from this block on').optional(),
  };
  return {
    createWebhook: z.object(
      { projectId: text, webhookUrl: receiverUrl, eventType, addresses: addresses.optional(), ...options },
      OBJECT,
    ),
    updateWebhook: z.object(
      { webhookId: text, webhookUrl: receiverUrl.optional(), eventType: eventType.optional(), ...options },
      OBJECT,
    ),
    addAddresses: z.object({ webhookId: text, addresses, fromBlock: block.optional() }, OBJECT),
    deleteAddresses: z.object({ webhookId: text, addresses: listOf(anyAddress) }, OBJECT),
    replay: z.object(
      {
        webhookId: text,
        fromBlock: block.optional(),
        toBlock: block.optional(),
        failed: z
          .union([z.literal('all'), z.array(z.int(FAILED), FAILED).min(1, FAILED).max(MAX_ADDRESSES, FAILED)], FAILED)
          .optional(),
      },
      OBJECT,
    ),
    sendTestEvent: z.object({ webhookId: text }, OBJECT),
  };
}

const PAGE_LIMIT = { error: `must be a number from 1 to ${MAX_ADDRESSES.toLocaleString('en-US')}` };

export const pageQuery = z.object({
  limit: z.coerce.number(PAGE_LIMIT).int(PAGE_LIMIT).min(1, PAGE_LIMIT).max(MAX_ADDRESSES, PAGE_LIMIT).optional(),
  after: text.optional(),
});

function isReachable(url: string, permits: (ip: string) => boolean): boolean {
  if (!URL.canParse(url)) return true; // Another check reports it.
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || permits(host);
}
