import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { rowsQuery } from './discovery/routes.ts';
import { notificationSchemas, pageQuery } from './notification/schemas.ts';

/** The shapes of the services’ responses, from which their OpenAPI description is made. */

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

/** The successful responses of the three interfaces, by method and path. */
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
  'GET /explorer/v0': { 200: z.object({ status: z.string(), message: z.string(), result: token.nullable() }) },
  'GET /discovery/api/infrastructure-providers/categories': {
    200: z.object({ result: z.array(z.object({ key: z.string(), name: z.string(), providers: z.int() })) }),
  },
  'GET /discovery/api/infrastructure-providers/rows': {
    200: z.object({ rows: z.array(z.looseObject({})), total: z.int(), page: z.int(), pageSize: z.int() }),
  },
} as const satisfies Record<string, Record<number, z.ZodType>>;

/** A method and a path of the three interfaces. */
export type Operation = keyof typeof responses;

function partsOf(operation: Operation): { method: string; path: string } {
  const [method = '', path = ''] = operation.split(' ');
  return { method, path };
}

const error = z.object({ statusCode: z.int(), errorMessage: z.string(), error: z.string() });
const discoveryError = z.object({ error: z.object({ message: z.string() }) });

/** The error responses of an operation, by status; an interface has one shape for all of them. */
export function errorResponsesOf(operation: Operation): Record<number, { description: string; shape: z.ZodType }> {
  const { method, path } = partsOf(operation);
  const common = (shape: z.ZodType) => ({
    400: { description: 'The request cannot be understood', shape },
    500: { description: 'It failed; try again later', shape },
  });
  if (path.startsWith('/explorer')) return common(responses['GET /explorer/v0'][200]);
  if (path.startsWith('/discovery')) return common(discoveryError);
  const withBody = {
    413: { description: 'The body is longer than 1 MiB', shape: error },
    415: { description: 'The body is not JSON', shape: error },
  };
  return {
    ...common(error),
    403: { description: 'Wrong key, foreign project or unknown webhook', shape: error },
    ...(method === 'POST' || method === 'PUT' ? withBody : {}),
  };
}

/** A chain whose interfaces the document describes. */
export interface DocumentedChain {
  /** What the paths of its notification and explorer interfaces begin with. */
  prefix: string;
  /** What clients call the `NATIVE` event type. */
  nativeSymbol: string;
}

/** Serves the OpenAPI document of the interfaces at `/openapi.json`. */
export function openApiRoutes(server: FastifyInstance, chains: readonly DocumentedChain[]): void {
  const document = openApiDocument(chains);
  server.get('/openapi.json', () => document);
}

function openApiDocument(chains: readonly DocumentedChain[]): object {
  const paths: Record<string, Record<string, object>> = {};

  function add(operation: Operation, prefix: string, body?: z.ZodType): void {
    const { method, path } = partsOf(operation);
    paths[prefix + path] ??= {};
    paths[prefix + path]![method.toLowerCase()] = operationObject(operation, body);
  }

  const operations = Object.keys(responses) as Operation[];
  const isShared = (operation: Operation) => partsOf(operation).path.startsWith('/discovery');
  for (const { prefix, nativeSymbol } of chains) {
    const bodies = bodiesOf(nativeSymbol);
    for (const operation of operations.filter((one) => !isShared(one))) add(operation, prefix, bodies[operation]);
  }
  for (const operation of operations.filter(isShared)) add(operation, '');
  return {
    openapi: '3.1.0',
    info: { title: 'Address notification, token lookup and provider discovery', version: '1.0.0' },
    components: {
      securitySchemes: {
        secret: { type: 'apiKey', in: 'header', name: 'API-SECRET' },
        key: { type: 'apiKey', in: 'query', name: 'apiKey' },
      },
    },
    paths,
  };
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

const QUERIES: Partial<Record<Operation, z.ZodObject>> = {
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

/** An Operation Object of OpenAPI. */
function operationObject(operation: Operation, body: z.ZodType | undefined): object {
  const { path } = partsOf(operation);
  const successes = Object.entries<z.ZodType>(responses[operation]).map(([status, shape]) => [
    status,
    { description: 'Success', content: json(shape) },
  ]);
  const errors = Object.entries(errorResponsesOf(operation)).map(([status, { description, shape }]) => [
    status,
    { description, content: json(shape) },
  ]);
  return {
    ...(path.startsWith('/notification') ? { security: [{ secret: [], key: [] }] } : {}),
    parameters: [...pathParameters(path), ...queryParameters(QUERIES[operation])],
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: Object.fromEntries([...successes, ...errors]),
  };
}

function schemaOf(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return schema;
}

function json(shape: z.ZodType): object {
  return { 'application/json': { schema: schemaOf(shape) } };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodObject | undefined): object[] {
  return Object.entries(query?.shape ?? {}).map(([name, shape]) => ({
    name,
    in: 'query',
    required: !(shape as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(shape as z.ZodType),
  }));
}
