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

/** The answers of the three interfaces, by method and path below their roots. */
export const ANSWERS = {
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

type Operation = keyof typeof ANSWERS;

const error = z.object({ statusCode: z.int(), errorMessage: z.string(), error: z.string() });
const discoveryError = z.object({ error: z.object({ message: z.string() }) });

/** The error responses of an operation, by status; each interface has one shape for all of them. */
export function refusalsOf(operation: Operation): Record<number, { description: string; shape: z.ZodType }> {
  const path = operation.split(' ')[1]!;
  const common = (shape: z.ZodType) => ({
    400: { description: 'The request cannot be understood', shape },
    500: { description: 'It failed; try again later', shape },
  });
  if (path.startsWith('/explorer')) return common(ANSWERS['GET /explorer/v0'][200]);
  if (path.startsWith('/discovery')) return common(discoveryError);
  const withBody = {
    413: { description: 'The body is longer than 1 MiB', shape: error },
    415: { description: 'The body is not JSON', shape: error },
  };
  return {
    ...common(error),
    403: { description: 'Wrong key, foreign project or unknown webhook', shape: error },
    ...(/^(POST|PUT)/.test(operation) ? withBody : {}),
  };
}

/** Serves the OpenAPI document of the three interfaces at `/openapi.json`. */
export function openApiRoutes(server: FastifyInstance, nativeSymbol: string): void {
  const document = openApiDocument(nativeSymbol);
  server.get('/openapi.json', () => document);
}

function openApiDocument(nativeSymbol: string): object {
  const schemas = notificationSchemas(nativeSymbol, () => true);
  const bodies: Partial<Record<Operation, z.ZodType>> = {
    'POST /notification/v0/webhook': schemas.create,
    'PUT /notification/v0/webhook': schemas.edit,
    'POST /notification/v0/webhook/add-addresses': schemas.addAddresses,
    'POST /notification/v0/webhook/delete-addresses': schemas.deleteAddresses,
    'POST /notification/v0/webhook/replay': schemas.replay,
    'POST /notification/v0/webhook/test': schemas.test,
  };
  const queries: Partial<Record<Operation, z.ZodObject>> = {
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
  const paths: Record<string, Record<string, object>> = {};
  for (const [operation, answers] of Object.entries(ANSWERS) as [Operation, Record<number, z.ZodType>][]) {
    const [method = '', path = ''] = operation.split(' ');
    const isNotification = path.startsWith('/notification');
    const body = bodies[operation];
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      ...(isNotification ? { security: [{ secret: [], key: [] }] } : {}),
      parameters: [...pathParameters(path), ...queryParameters(queries[operation])],
      ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
      responses: {
        ...Object.fromEntries(
          Object.entries(answers).map(([status, shape]) => [status, { description: 'Success', content: json(shape) }]),
        ),
        ...Object.fromEntries(
          Object.entries(refusalsOf(operation)).map(([status, { description, shape }]) => [
            status,
            { description, content: json(shape) },
          ]),
        ),
      },
    };
  }
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
