import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { rowsQuery } from './discovery/routes.ts';
import { notificationSchemas, pageQuery } from './notification/schemas.ts';

const PROVIDERS = '/discovery/api/infrastructure-providers';

const message = z.object({ message: z.string() });
const webhookRow = z.object({ projectId: z.string(), webhookUrl: z.string(), eventType: z.string() });
const fullRow = webhookRow.extend({
  _id: z.string(),
  confirmations: z.union([z.int(), z.enum(['safe', 'finalized'])]),
  withdrawals: z.boolean(),
  parallel: z.int(),
  fromBlock: z.int().nullable(),
});
const webhook = fullRow.extend({ webhookId: z.string() });
const webhookWithReplays = webhook.extend({ replays: z.array(z.looseObject({ id: z.int() })) });
const webhooks = z.array(z.union([fullRow, z.strictObject(webhookRow.shape)]));
const deletion = message.extend({ acknowledged: z.boolean(), deletedCount: z.int() });
const addresses = z.array(z.object({ _id: z.string(), webhookId: z.string(), address: z.string() }));
const failures = z.array(
  z.object({
    id: z.int(),
    txHash: z.string(),
    blockNumber: z.int(),
    attempts: z.int(),
    endedAt: z.string(),
    error: z.string().nullable(),
    body: z.string(),
  }),
);
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
const categories = z.object({
  result: z.array(z.object({ key: z.string(), name: z.string(), providers: z.int() })),
});
const providers = z.object({ rows: z.array(z.looseObject({})), total: z.int(), page: z.int(), pageSize: z.int() });

type Operation = readonly [call: string, summary: string, status: 200 | 201 | 202, result: z.ZodType];

/** By operation ID; the status and the result are those of a success. */
export const OPERATIONS = {
  createWebhook: ['POST /notification/v0/webhook', 'Create a webhook', 201, webhook],
  updateWebhook: ['PUT /notification/v0/webhook', 'Change a webhook', 200, webhook],
  getWebhook: ['GET /notification/v0/webhook/{webhookId}', 'Show a webhook and its replays', 200, webhookWithReplays],
  deleteWebhook: ['DELETE /notification/v0/webhook/{webhookId}', 'Delete a webhook', 200, message],
  listWebhooks: ['GET /notification/v0/webhooks/{projectId}', 'List a project’s webhooks', 200, webhooks],
  addAddresses: ['POST /notification/v0/webhook/add-addresses', 'Add addresses to a webhook', 201, message],
  deleteAddresses: ['POST /notification/v0/webhook/delete-addresses', 'Remove addresses from a webhook', 201, deletion],
  listAddresses: ['GET /notification/v0/webhook/addresses/{webhookId}', 'List a webhook’s addresses', 200, addresses],
  listFailed: ['GET /notification/v0/webhook/failed/{webhookId}', 'List a webhook’s failed deliveries', 200, failures],
  replay: [
    'POST /notification/v0/webhook/replay',
    'Send the events of some blocks, or failed deliveries, again',
    202,
    z.looseObject({}),
  ],
  sendTestEvent: [
    'POST /notification/v0/webhook/test',
    'Send a test event to a webhook',
    202,
    message.extend({ deliveryId: z.int() }),
  ],
  getToken: ['GET /explorer/v0', 'Look up a token', 200, tokenResponse],
  listCategories: [`GET ${PROVIDERS}/categories`, 'List the categories of providers', 200, categories],
  listProviders: [`GET ${PROVIDERS}/rows`, 'Search the providers of a category', 200, providers],
} as const satisfies Record<string, Operation>;

type OperationId = keyof typeof OPERATIONS;

const QUERIES: Partial<Record<OperationId, z.ZodObject<Record<string, z.ZodType>>>> = {
  listAddresses: pageQuery,
  listFailed: pageQuery,
  listWebhooks: z.object({ full: z.enum(['1']).optional() }),
  getToken: z.object({ module: z.literal('token'), action: z.literal('getToken'), contractaddress: z.string() }),
  listProviders: rowsQuery,
};

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
export function responsesOf([call, , success, result]: Operation): Record<string, z.ZodType> {
  const [method = '', path = ''] = call.split(' ');
  const isNotification = path.startsWith('/notification');
  const shape = isNotification ? error : path.startsWith('/explorer') ? tokenResponse : discoveryError;
  const statuses = [
    ...(isNotification ? [400, 403, 500] : [400, 500]),
    ...(method === 'POST' || method === 'PUT' ? [413, 415] : []),
    ...(/\/(webhook|add-addresses)$/.test(path) && method === 'POST' ? [503] : []),
  ];
  return { [success]: result, ...Object.fromEntries(statuses.map((status) => [status, shape])) };
}

/** Each chain's interfaces stand below its prefix. */
export function openApiRoutes(
  server: FastifyInstance,
  chains: readonly Record<'prefix' | 'nativeSymbol', string>[],
): void {
  const paths: Record<string, Record<string, object>> = {};

  function add(id: OperationId, prefix: string, body?: z.ZodType): void {
    const [method = '', path = ''] = OPERATIONS[id][0].split(' ');
    paths[prefix + path] ??= {};
    paths[prefix + path]![method.toLowerCase()] = operationObject(id, path, prefix, body);
  }

  const ids = Object.keys(OPERATIONS) as OperationId[];
  const isShared = (id: OperationId) => id === 'listCategories' || id === 'listProviders';
  for (const { prefix, nativeSymbol } of chains) {
    const bodies: Partial<Record<OperationId, z.ZodType>> = notificationSchemas(nativeSymbol, () => true);
    for (const id of ids.filter((id) => !isShared(id))) add(id, prefix, bodies[id]);
  }
  for (const id of ids.filter(isShared)) add(id, '');
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

function operationObject(id: OperationId, path: string, prefix: string, body: z.ZodType | undefined): object {
  const hasKeys = path.startsWith('/notification');
  const described = Object.entries(responsesOf(OPERATIONS[id])).map(([status, shape]) => [
    status,
    { description: DESCRIPTIONS[status] ?? 'Success', content: json(shape) },
  ]);
  return {
    operationId: prefix === '' ? id : `${prefix.slice(1)}_${id}`,
    summary: OPERATIONS[id][1],
    security: hasKeys ? [{ secret: [] }] : [],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter('path', name!, z.string())),
      // A parameter rather than a security scheme, so that generated clients know it.
      ...(hasKeys ? [parameter('query', 'apiKey', z.string())] : []),
      ...Object.entries(QUERIES[id]?.shape ?? {}).map(([name, shape]) => parameter('query', name, shape)),
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
