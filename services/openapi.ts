import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { rowsQuery } from './discovery/routes.ts';
import { notificationSchemas, pageQuery } from './notification/schemas.ts';

const message = z.object({ message: z.string() });
const webhookRow = z.object({ projectId: z.string(), webhookUrl: z.string(), eventType: z.string() });
const settings = {
  confirmations: z.union([z.int(), z.enum(['safe', 'finalized'])]),
  withdrawals: z.boolean(),
  parallel: z.int(),
  fromBlock: z.int().nullable(),
};
const webhook = webhookRow.extend({ _id: z.string(), webhookId: z.string(), ...settings });
const fullRow = webhookRow.extend({ _id: z.string(), ...settings });
const addressRow = z.object({ _id: z.string(), webhookId: z.string(), address: z.string() });
const failedRow = z.object({
  id: z.int(),
  txHash: z.string(),
  blockNumber: z.int(),
  attempts: z.int(),
  endedAt: z.string(),
  error: z.string().nullable(),
  body: z.string(),
});
const token = z.object({
  cataloged: z.boolean(),
  contractAddress: z.string(),
  decimals: z.string(),
  name: z.string(),
  symbol: z.string(),
  totalSupply: z.string(),
  type: z.string(),
});

const tokenResponse = z.object({ status: z.string(), message: z.string(), result: token.nullable() });

export const responses = {
  'POST /notification/v0/webhook': { 201: webhook },
  'PUT /notification/v0/webhook': { 200: webhook },
  'GET /notification/v0/webhook/{webhookId}': {
    200: webhook.extend({ replays: z.array(z.looseObject({ id: z.int() })) }),
  },
  'DELETE /notification/v0/webhook/{webhookId}': { 200: message },
  'GET /notification/v0/webhooks/{projectId}': { 200: z.array(z.union([fullRow, z.strictObject(webhookRow.shape)])) },
  'POST /notification/v0/webhook/add-addresses': { 201: message },
  'POST /notification/v0/webhook/delete-addresses': {
    201: message.extend({ acknowledged: z.boolean(), deletedCount: z.int() }),
  },
  'GET /notification/v0/webhook/addresses/{webhookId}': { 200: z.array(addressRow) },
  'GET /notification/v0/webhook/failed/{webhookId}': { 200: z.array(failedRow) },
  'POST /notification/v0/webhook/replay': { 202: z.looseObject({}) },
  'POST /notification/v0/webhook/test': { 202: message.extend({ deliveryId: z.int() }) },
  'GET /explorer/v0': { 200: tokenResponse },
  'GET /discovery/api/infrastructure-providers/categories': {
    200: z.object({ result: z.array(z.object({ key: z.string(), name: z.string(), providers: z.int() })) }),
  },
  'GET /discovery/api/infrastructure-providers/rows': {
    200: z.object({ rows: z.array(z.looseObject({})), total: z.int(), page: z.int(), pageSize: z.int() }),
  },
} as const satisfies Record<string, Record<number, z.ZodType>>;

export type Operation = keyof typeof responses;

const NAMES: Record<Operation, [id: string, summary: string]> = {
  'POST /notification/v0/webhook': ['createWebhook', 'Create a webhook'],
  'PUT /notification/v0/webhook': ['updateWebhook', 'Change a webhook'],
  'GET /notification/v0/webhook/{webhookId}': ['getWebhook', 'Show a webhook and its replays'],
  'DELETE /notification/v0/webhook/{webhookId}': ['deleteWebhook', 'Delete a webhook'],
  'GET /notification/v0/webhooks/{projectId}': ['listWebhooks', 'List a project’s webhooks'],
  'POST /notification/v0/webhook/add-addresses': ['addAddresses', 'Add addresses to a webhook'],
  'POST /notification/v0/webhook/delete-addresses': ['deleteAddresses', 'Remove addresses from a webhook'],
  'GET /notification/v0/webhook/addresses/{webhookId}': ['listAddresses', 'List a webhook’s addresses'],
  'GET /notification/v0/webhook/failed/{webhookId}': ['listFailed', 'List a webhook’s failed deliveries'],
  'POST /notification/v0/webhook/replay': ['replay', 'Send the events of some blocks, or failed deliveries, again'],
  'POST /notification/v0/webhook/test': ['sendTestEvent', 'Send a test event to a webhook'],
  'GET /explorer/v0': ['getToken', 'Look up a token'],
  'GET /discovery/api/infrastructure-providers/categories': ['listCategories', 'List the categories of providers'],
  'GET /discovery/api/infrastructure-providers/rows': ['listProviders', 'Search the providers of a category'],
};

function partsOf(operation: Operation): { method: string; path: string } {
  const [method = '', path = ''] = operation.split(' ');
  return { method, path };
}

const error = z.object({ statusCode: z.int(), errorMessage: z.string(), error: z.string() });
const discoveryError = z.object({ error: z.object({ message: z.string() }) });

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: 'The request cannot be understood',
  403: 'Wrong key, foreign project or unknown webhook',
  413: 'The body is longer than 1 MiB',
  415: 'The body is not JSON',
  500: 'It failed; try again later',
  503: 'No node names the block to begin with; nothing was stored',
};

/** An interface has one shape for all its errors. */
export function responsesOf(operation: Operation): Record<string, z.ZodType> {
  const { method, path } = partsOf(operation);
  const isNotification = path.startsWith('/notification');
  const shape = isNotification ? error : path.startsWith('/explorer') ? tokenResponse : discoveryError;
  const statuses = [
    ...(isNotification ? [400, 403, 500] : [400, 500]),
    ...(method === 'POST' || method === 'PUT' ? [413, 415] : []),
    ...(/\/(webhook|add-addresses)$/.test(path) && method === 'POST' ? [503] : []),
  ];
  return { ...responses[operation], ...Object.fromEntries(statuses.map((status) => [status, shape])) };
}

/** Each chain's interfaces stand below its prefix. */
export function openApiRoutes(
  server: FastifyInstance,
  chains: readonly Record<'prefix' | 'nativeSymbol', string>[],
): void {
  const paths: Record<string, Record<string, object>> = {};

  function add(operation: Operation, prefix: string, body?: z.ZodType): void {
    const { method, path } = partsOf(operation);
    paths[prefix + path] ??= {};
    paths[prefix + path]![method.toLowerCase()] = operationObject(operation, prefix, body);
  }

  const operations = Object.keys(responses) as Operation[];
  const isShared = (operation: Operation) => partsOf(operation).path.startsWith('/discovery');
  for (const { prefix, nativeSymbol } of chains) {
    const bodies = bodiesOf(nativeSymbol);
    for (const operation of operations.filter((one) => !isShared(one))) add(operation, prefix, bodies[operation]);
  }
  for (const operation of operations.filter(isShared)) add(operation, '');
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Address notification, token lookup and provider discovery',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document: the services do not know the address by which others reach them.
    servers: [{ url: '/' }],
    components: { securitySchemes: { secret: { type: 'apiKey', in: 'header', name: 'API-SECRET' } } },
    paths,
  };
  server.get('/openapi.json', () => document);
}

function bodiesOf(nativeSymbol: string): Partial<Record<Operation, z.ZodType>> {
  const schemas = notificationSchemas(nativeSymbol, () => true);
  return {
    'POST /notification/v0/webhook': schemas.create,
    'PUT /notification/v0/webhook': schemas.edit,
    'POST /notification/v0/webhook/add-addresses': schemas.addAddresses,
    'POST /notification/v0/webhook/delete-addresses': schemas.deleteAddresses,
    'POST /notification/v0/webhook/replay': schemas.replay,
    'POST /notification/v0/webhook/test': schemas.test,
  };
}

const QUERIES: Partial<Record<Operation, z.ZodObject<Record<string, z.ZodType>>>> = {
  'GET /notification/v0/webhook/addresses/{webhookId}': pageQuery,
  'GET /notification/v0/webhook/failed/{webhookId}': pageQuery,
  'GET /notification/v0/webhooks/{projectId}': z.object({ full: z.enum(['1']).optional() }),
  'GET /explorer/v0': z.object({
    module: z.literal('token'),
    action: z.literal('getToken'),
    contractaddress: z.string(),
  }),
  'GET /discovery/api/infrastructure-providers/rows': rowsQuery,
};

function operationObject(operation: Operation, prefix: string, body: z.ZodType | undefined): object {
  const { path } = partsOf(operation);
  const [id, summary] = NAMES[operation];
  const hasKeys = path.startsWith('/notification');
  const described = Object.entries(responsesOf(operation)).map(([status, shape]) => [
    status,
    { description: DESCRIPTIONS[status] ?? 'Success', content: json(shape) },
  ]);
  return {
    operationId: prefix === '' ? id : `${prefix.slice(1)}_${id}`,
    summary,
    security: hasKeys ? [{ secret: [] }] : [],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter('path', name!, z.string())),
      // A parameter rather than a security scheme, so that generated clients know it.
      ...(hasKeys ? [parameter('query', 'apiKey', z.string())] : []),
      ...Object.entries(QUERIES[operation]?.shape ?? {}).map(([name, shape]) => parameter('query', name, shape)),
    ],
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: Object.fromEntries(described),
  };
}

function schemaOf(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return schema;
}

const json = (shape: z.ZodType) => ({ 'application/json': { schema: schemaOf(shape) } });

const parameter = (where: 'path' | 'query', name: string, shape: z.ZodType) => ({
  name,
  in: where,
  required: !shape.safeParse(undefined).success,
  schema: schemaOf(shape),
});
