import { afterEach, beforeEach, expect, it } from 'vitest';
import { errorResponsesOf, responses } from '../../services/openapi.ts';
import { HARBOR, type Harness, startHarness, surroundings } from './harness.ts';

const here = surroundings({ scripted: true });
let services: Harness;

beforeEach(async () => {
  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir });
});
afterEach(() => services.close());

interface Document {
  openapi: string;
  paths: Record<string, Record<string, DocumentedOperation>>;
}
interface DocumentedOperation {
  responses: object;
  parameters: { name: string; required: boolean }[];
  requestBody?: { content: { 'application/json': { schema: { properties: { eventType: { enum: string[] } } } } } };
}

it('serves an OpenAPI document that names every documented operation', async () => {
  const document = (await (await fetch(`${services.url}/openapi.json`)).json()) as Document;
  expect(document.openapi).toBe('3.1.0');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.sort()).toEqual(Object.keys(responses).sort());
  const { parameters } = document.paths['/discovery/api/infrastructure-providers/rows']!.get!;
  expect(parameters.find(({ name }) => name === 'category')).toMatchObject({ required: true });
});

it('describes the interfaces of each chain below its prefix, with the name of its coin as an eventType', async () => {
  await services.close();
  const nodes = [{ url: here.chain.rpcUrl }];
  const chains = [
    { name: 'one', nodes, nativeSymbol: 'ONE' },
    { name: 'two', nodes },
  ];
  services = await startHarness({ dir: here.dir, chains });
  const document = (await (await fetch(`${services.url}/openapi.json`)).json()) as Document;
  const paths = Object.keys(document.paths);
  expect(paths).toEqual(expect.arrayContaining(['/one/notification/v0/webhook', '/two/explorer/v0']));
  expect(paths.filter((path) => path.startsWith('/notification') || path.startsWith('/explorer'))).toEqual([]);
  expect(paths).toContain('/discovery/api/infrastructure-providers/rows');
  const eventTypes = ({ post }: Document['paths'][string]) =>
    post!.requestBody!.content['application/json'].schema.properties.eventType.enum;
  expect(eventTypes(document.paths['/one/notification/v0/webhook']!)).toContain('ONE');
  expect(eventTypes(document.paths['/two/notification/v0/webhook']!)).not.toContain('ONE');
});

it('responds to every documented operation in the documented shape', async () => {
  const { Alice } = here.chain.wallets;
  const checked: string[] = [];
  const check = async (operation: keyof typeof responses, path: string, body?: object) => {
    const [method = ''] = operation.split(' ');
    const response = await fetch(`${services.url}${path}${path.includes('?') ? '&' : '?'}apiKey=${HARBOR.key}`, {
      method,
      headers: { 'API-SECRET': HARBOR.secret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { webhookId: string };
    const shapes: Record<number, { safeParse(value: unknown): { error?: unknown } }> = responses[operation];
    expect(Object.keys(shapes), `the documented statuses of ${operation}`).toContain(String(response.status));
    expect(shapes[response.status]!.safeParse(answer).error, `faults in the response of ${operation}`).toBeUndefined();
    checked.push(operation);
    return answer;
  };
  const api = '/notification/v0';
  const { webhookId } = await check('POST /notification/v0/webhook', `${api}/webhook`, {
    projectId: HARBOR.id,
    webhookUrl: here.receiver.url,
    eventType: 'ALL',
    confirmations: 'safe',
  });
  await check('PUT /notification/v0/webhook', `${api}/webhook`, { webhookId, parallel: 2 });
  await check('POST /notification/v0/webhook/add-addresses', `${api}/webhook/add-addresses`, {
    webhookId,
    addresses: [Alice],
  });
  await check('GET /notification/v0/webhook/addresses/{webhookId}', `${api}/webhook/addresses/${webhookId}`);
  await check('POST /notification/v0/webhook/delete-addresses', `${api}/webhook/delete-addresses`, {
    webhookId,
    addresses: [Alice],
  });
  await check('GET /notification/v0/webhook/{webhookId}', `${api}/webhook/${webhookId}`);
  await check('GET /notification/v0/webhooks/{projectId}', `${api}/webhooks/harbor`);
  await check('GET /notification/v0/webhooks/{projectId}', `${api}/webhooks/harbor?full=1`);
  await check('GET /notification/v0/webhook/failed/{webhookId}', `${api}/webhook/failed/${webhookId}`);
  await check('POST /notification/v0/webhook/replay', `${api}/webhook/replay`, { webhookId, fromBlock: 0 });
  await check('POST /notification/v0/webhook/test', `${api}/webhook/test`, { webhookId });
  await check('DELETE /notification/v0/webhook/{webhookId}', `${api}/webhook/${webhookId}`);
  const { address } = here.chain.tokens.dollar;
  await check('GET /explorer/v0', `/explorer/v0?module=token&action=getToken&contractaddress=${address}`);
  await check('GET /explorer/v0', `/explorer/v0?module=token&action=getToken&contractaddress=${Alice}`);
  const discovery = '/discovery/api/infrastructure-providers';
  await check('GET /discovery/api/infrastructure-providers/categories', `${discovery}/categories`);
  await check('GET /discovery/api/infrastructure-providers/rows', `${discovery}/rows?category=wallets`);
  expect(new Set(checked)).toEqual(new Set(Object.keys(responses)));
});

type Operation = keyof typeof responses;
const JSON_TYPE = 'application/json';
const refused: {
  why: string;
  status: number;
  operation: Operation;
  path?: string;
  body?: string;
  secret?: string;
  type?: string;
}[] = [
  { why: 'an empty object', status: 400, operation: 'POST /notification/v0/webhook', body: '{}' },
  { why: 'a broken body', status: 400, operation: 'POST /notification/v0/webhook', body: '{' },
  { why: 'an empty object', status: 400, operation: 'PUT /notification/v0/webhook', body: '{}' },
  { why: 'an empty object', status: 400, operation: 'POST /notification/v0/webhook/add-addresses', body: '{}' },
  { why: 'an empty object', status: 400, operation: 'POST /notification/v0/webhook/delete-addresses', body: '{}' },
  { why: 'an empty object', status: 400, operation: 'POST /notification/v0/webhook/replay', body: '{}' },
  { why: 'an empty object', status: 400, operation: 'POST /notification/v0/webhook/test', body: '{}' },
  {
    why: 'a long path',
    status: 400,
    operation: 'GET /notification/v0/webhook/{webhookId}',
    path: `/notification/v0/webhook/${'x'.repeat(1001)}`,
  },
  { why: 'a wrong secret', status: 403, operation: 'GET /notification/v0/webhooks/{projectId}', secret: 'wrong' },
  { why: 'an unknown webhook', status: 403, operation: 'DELETE /notification/v0/webhook/{webhookId}' },
  { why: 'a long body', status: 413, operation: 'POST /notification/v0/webhook', body: `"${'x'.repeat(2 ** 20)}"` },
  {
    why: 'a form',
    status: 415,
    operation: 'PUT /notification/v0/webhook',
    body: 'a=b',
    type: 'application/x-www-form-urlencoded',
  },
  { why: 'another module', status: 400, operation: 'GET /explorer/v0', path: '/explorer/v0?module=account' },
  { why: 'a missing category', status: 400, operation: 'GET /discovery/api/infrastructure-providers/rows' },
];

it.each(refused)('documents the response $status to $why for $operation', async (one) => {
  const { status, operation, path, body, secret = HARBOR.secret, type = JSON_TYPE } = one;
  const [method = '', shown = ''] = operation.split(' ');
  const target = new URL(path ?? shown, services.url);
  target.searchParams.set('apiKey', HARBOR.key);
  const headers = { 'API-SECRET': secret, ...(body === undefined ? {} : { 'content-type': type }) };
  const response = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) });
  expect(response.status).toBe(status);
  const shape = errorResponsesOf(operation)[status]!.shape;
  expect(shape.safeParse(await response.json()).error).toBeUndefined();
  const document = (await (await fetch(`${services.url}/openapi.json`)).json()) as Document;
  expect(document.paths[shown]![method.toLowerCase()]!.responses).toHaveProperty(String(status));
});
