import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { notificationSchemas } from '../../services/notification/schemas.ts';
import { OPERATIONS, responsesOf } from '../../services/openapi.ts';
import { HARBOR, limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false });

const calls = Object.values(OPERATIONS).map(([call]) => call);
const described = (operation: string) => Object.values(OPERATIONS).find(([call]) => call === operation)!;

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
  const document = (await (await fetch(`${here.services.url}/openapi.json`)).json()) as Document;
  expect(document.openapi).toBe('3.1.0');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.sort()).toEqual(calls.toSorted());
  const { parameters } = document.paths['/discovery/api/infrastructure-providers/rows']!.get!;
  expect(parameters.find(({ name }) => name === 'category')).toMatchObject({ required: true });
});

it('describes the interfaces of each chain below its prefix, with the name of its coin as an eventType', async () => {
  const nodes = [{ url: here.chain.rpcUrl }];
  const chains = [
    { name: 'one', nodes, nativeSymbol: 'ONE' },
    { name: 'two', nodes },
  ];
  await here.restart({ chains });
  const document = (await (await fetch(`${here.services.url}/openapi.json`)).json()) as Document;
  const paths = Object.keys(document.paths);
  expect(paths).toEqual(expect.arrayContaining(['/one/notification/v0/webhook', '/two/explorer/v0']));
  expect(paths.filter((path) => path.startsWith('/notification') || path.startsWith('/explorer'))).toEqual([]);
  expect(paths).toContain('/discovery/api/infrastructure-providers/rows');
  const eventTypes = ({ post }: Document['paths'][string]) =>
    post!.requestBody!.content['application/json'].schema.properties.eventType.enum;
  expect(eventTypes(document.paths['/one/notification/v0/webhook']!)).toContain('ONE');
  expect(eventTypes(document.paths['/two/notification/v0/webhook']!)).not.toContain('ONE');
});

const MODULES = resolve('node_modules');
const GENERATOR = resolve('test/services/openapi/node_modules/openapi-typescript/bin/cli.js');
const run = promisify(execFile);

/** Makes every call through the generated types. Their compiler refuses what the document does not describe. */
const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';
const [baseUrl = '', apiKey = '', secret = '', projectId = '', webhookUrl = '', address = '', token = ''] = process.argv.slice(2);
const { GET, POST, PUT, DELETE } = createClient<paths>({ baseUrl, headers: { 'API-SECRET': secret } });
const answers: [operation: string, status: number, data: unknown][] = [];
async function done<T>(operation: string, call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data, response } = await call;
  answers.push([operation, response.status, data]);
  return data!;
}
const hook = '/notification/v0/webhook';
const providers = '/discovery/api/infrastructure-providers';
const query = { apiKey };
const params = { query };
const made = await done('POST ' + hook, POST(hook, { params, body: { projectId, webhookUrl, eventType: 'ALL', confirmations: 'safe' } }));
const webhookId: string = made.webhookId;
const one = { params: { path: { webhookId }, query } };
await done('PUT ' + hook, PUT(hook, { params, body: { webhookId, parallel: 2 } }));
await done('POST ' + hook + '/add-addresses', POST('/notification/v0/webhook/add-addresses', { params, body: { webhookId, addresses: [address] } }));
const [first] = await done('GET ' + hook + '/addresses/{webhookId}', GET('/notification/v0/webhook/addresses/{webhookId}', one));
await done('POST ' + hook + '/delete-addresses', POST('/notification/v0/webhook/delete-addresses', { params, body: { webhookId, addresses: [first!.address] } }));
await done('GET ' + hook + '/{webhookId}', GET('/notification/v0/webhook/{webhookId}', one));
const all = { params: { path: { projectId }, query: { apiKey, full: '1' } } } as const;
await done('GET /notification/v0/webhooks/{projectId}', GET('/notification/v0/webhooks/{projectId}', all));
await done('GET ' + hook + '/failed/{webhookId}', GET('/notification/v0/webhook/failed/{webhookId}', one));
await done('POST ' + hook + '/replay', POST('/notification/v0/webhook/replay', { params, body: { webhookId, fromBlock: 0 } }));
await done('POST ' + hook + '/test', POST('/notification/v0/webhook/test', { params, body: { webhookId } }));
await done('DELETE ' + hook + '/{webhookId}', DELETE('/notification/v0/webhook/{webhookId}', one));
const asked = { module: 'token', action: 'getToken', contractaddress: token } as const;
const { result } = await done('GET /explorer/v0', GET('/explorer/v0', { params: { query: asked } }));
await done('GET ' + providers + '/categories', GET('/discovery/api/infrastructure-providers/categories'));
const wallets = { params: { query: { category: 'wallets' } } };
const { rows } = await done('GET ' + providers + '/rows', GET('/discovery/api/infrastructure-providers/rows', wallets));
console.log(JSON.stringify({ answers, symbol: result!.symbol, rows: rows.length }));
`;

it('lints clean, and a client that is generated from it gets what it describes from every call', async () => {
  const file = (name: string) => join(here.dir, name);
  writeFileSync(file('openapi.json'), await (await fetch(`${here.services.url}/openapi.json`)).text());
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const lint = [join(MODULES, '@redocly/cli/bin/cli.js'), 'lint', file('openapi.json'), '--extends', 'recommended'];
  const { stdout: problems } = await run(process.execPath, [...lint, '--format', 'json'], { env });
  expect(JSON.parse(problems)).toMatchObject({ totals: { errors: 0, warnings: 0 } });

  symlinkSync(MODULES, file('node_modules'));
  writeFileSync(file('client.ts'), CLIENT);
  writeFileSync(file('package.json'), '{ "type": "module" }');
  await run(process.execPath, [GENERATOR, file('openapi.json'), '-o', file('api.d.ts')]);
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'es2024'];
  const types = ['--module', 'nodenext', '--types', 'node'];
  await run(join(MODULES, '.bin/tsc'), [...options, ...types, file('client.ts')], { cwd: here.dir });
  const { Alice } = here.chain.wallets;
  const { address, symbol } = here.chain.tokens.dollar;
  const given = [here.services.url, HARBOR.key, HARBOR.secret, HARBOR.id, here.receiver.url, Alice, address];
  const { stdout } = await run(process.execPath, [file('client.ts'), ...given]);
  const { answers, ...found } = JSON.parse(stdout) as { answers: [string, number, unknown][] };
  expect(found).toEqual({ symbol, rows: expect.any(Number) });
  expect(answers.map(([operation]) => operation).sort()).toEqual(calls.toSorted());
  for (const [operation, status, data] of answers) {
    const [, , success, result] = described(operation);
    expect(status, `the status of ${operation}`).toBe(success);
    expect(result.safeParse(data).error, `faults in the response of ${operation}`).toBeUndefined();
  }
});

it('names faults in words, whatever has the wrong type', async () => {
  const wrong = [null, 7, 'x', true, {}, [], [{}], -1, 1e99];
  const webhookId = await here.watch();
  const said = new Set<string>();
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await here.call(method, path, body);
    if (response.status === 400) said.add((response.body as { errorMessage: string }).errorMessage);
  };
  for (const [id, { shape }] of Object.entries(notificationSchemas('NATIVE', () => true))) {
    const [operation] = OPERATIONS[id as keyof typeof OPERATIONS];
    const [method = '', path = ''] = operation.replace('/notification/v0', '').split(' ');
    for (const value of wrong) {
      await call(method, path, value);
      await call(method, path, Object.fromEntries(Object.keys(shape).map((field) => [field, value])));
    }
  }
  for (const page of ['limit=x', 'limit=0', 'limit=1&limit=2', 'after=1&after=2'])
    await call('GET', `/webhook/failed/${webhookId}?${page}`);
  expect(said.size).toBeGreaterThan(20);
  expect([...said].filter((text) => /Invalid|expected|received|Too (big|small)|Unrecognized/.test(text))).toEqual([]);
});

const HOOK = '/notification/v0/webhook';
const FORM = 'application/x-www-form-urlencoded';
type Refused = [
  why: string,
  status: number,
  operation: string,
  more?: { path?: string; body?: string; secret?: string; type?: string },
];
const refused: Refused[] = [
  ...calls
    .filter((call) => /^(POST|PUT) /.test(call))
    .map((call): Refused => ['an empty object', 400, call, { body: '{}' }]),
  ['a broken body', 400, `POST ${HOOK}`, { body: '{' }],
  ['a long path', 400, `GET ${HOOK}/{webhookId}`, { path: `${HOOK}/${'x'.repeat(1001)}` }],
  ['a wrong secret', 403, 'GET /notification/v0/webhooks/{projectId}', { secret: 'wrong' }],
  ['an unknown webhook', 403, `DELETE ${HOOK}/{webhookId}`],
  ['a long body', 413, `POST ${HOOK}`, { body: `"${'x'.repeat(2 ** 20)}"` }],
  ['a form', 415, `PUT ${HOOK}`, { body: 'a=b', type: FORM }],
  ['another module', 400, 'GET /explorer/v0', { path: '/explorer/v0?module=account' }],
  ['a missing category', 400, 'GET /discovery/api/infrastructure-providers/rows'],
];

it.each(refused)('documents what %s gets: %i, for %s', async (_why, status, operation, more = {}) => {
  const { path, body, secret = HARBOR.secret, type = 'application/json' } = more;
  const [method = '', shown = ''] = operation.split(' ');
  const target = new URL(path ?? shown, here.services.url);
  target.searchParams.set('apiKey', HARBOR.key);
  const headers = { 'API-SECRET': secret, ...(body === undefined ? {} : { 'content-type': type }) };
  const response = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) });
  expect(response.status).toBe(status);
  const shape = responsesOf(described(operation))[status]!;
  expect(shape.safeParse(await response.json()).error).toBeUndefined();
  const document = (await (await fetch(`${here.services.url}/openapi.json`)).json()) as Document;
  expect(document.paths[shown]![method.toLowerCase()]!.responses).toHaveProperty(String(status));
});
