import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Fault, RequestRecord } from './control.ts';
import type { Core } from './core.ts';
import { DiscordError, errors } from './errors.ts';
import type { Upload } from './message-rules.ts';
import { Created, type Route } from './route.ts';
import { CHANNEL_ROUTES } from './routes-channels.ts';
import { COMMAND_ROUTES } from './routes-commands.ts';
import { GUILD_ROUTES } from './routes-guilds.ts';
import { INTERACTION_ROUTES } from './routes-interactions.ts';
import type { Json } from './validate.ts';

const ROOT = '/api/v10';
const ROUTES = [...CHANNEL_ROUTES, ...GUILD_ROUTES, ...INTERACTION_ROUTES, ...COMMAND_ROUTES];

interface RestResponse {
  status: number;
  headers: Record<string, string>;
  body: string | undefined;
  code: number | null;
}

const json = (status: number, body: Json, headers: Record<string, string> = {}): RestResponse => ({
  status,
  headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
  body: body === undefined ? undefined : JSON.stringify(body),
  code: status >= 400 ? (body?.code ?? null) : null,
});

function cloudflare(status: number): RestResponse {
  const body = `<!DOCTYPE html>\n<html lang="en-US"><head><title>${status} | discord.com | Cloudflare</title></head>\n<body><h1>Error ${status}</h1><p>Ray ID: 0000000000000000</p></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=UTF-8', server: 'cloudflare' }, body, code: null };
}

function tooMany(retryAfterMs: number, global: boolean, headers: Record<string, string>): RestResponse {
  const seconds = retryAfterMs / 1_000;
  const body = { message: 'You are being rate limited.', retry_after: seconds, global };
  return json(429, body, { 'retry-after': String(Math.ceil(seconds)), ...headers });
}

/** null when the fault does not replace the route's response. */
function faultResponse(fault: Fault): RestResponse | null {
  switch (fault.kind) {
    case 'error':
      return json(fault.status, { message: fault.message ?? `${fault.status}: Injected`, code: fault.code ?? 0 });
    case 'rate-limit': {
      if (fault.headers === false) return json(429, { message: 'You are being rate limited.' });
      const scope = fault.global
        ? { 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' }
        : { 'x-ratelimit-scope': 'user' };
      return tooMany(fault.retryAfterMs, fault.global ?? false, scope);
    }
    case 'cloudflare':
      return cloudflare(fault.status);
    default:
      return null;
  }
}

async function readBody(request: FastifyRequest): Promise<{ body: Json; uploads: Upload[] }> {
  const raw = request.body as Buffer | undefined;
  if (!raw || raw.length === 0) return { body: {}, uploads: [] };
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return { body: parse(raw.toString()), uploads: [] };
  if (!type.startsWith('multipart/form-data')) throw errors.contentType();
  const form = await new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData().catch(() => {
    throw errors.invalidJson();
  });
  const uploads: Upload[] = [];
  let body: Json = {};
  for (const [name, value] of form) {
    if (name === 'payload_json') body = parse(typeof value === 'string' ? value : await value.text());
    else if (typeof value === 'string') body[name] = value;
    else
      uploads.push({
        id: /^files\[(\d+)\]$/.exec(name)?.[1] ?? String(uploads.length),
        filename: value.name,
        contentType: value.type || 'application/octet-stream',
        bytes: Buffer.from(await value.arrayBuffer()),
      });
  }
  return { body, uploads };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw errors.invalidJson();
  }
}

async function serve(core: Core, route: Route | null, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  const url = request.url.slice(ROOT.length);
  const record = core.log.begin(request.method, url);
  const fault = core.faults.match(request.method, url.split('?', 1)[0]!);
  record.fault = fault?.kind ?? null;
  if (fault?.kind === 'reset' || fault?.kind === 'away') return breakOff(core, record, reply);
  if (fault?.kind === 'hang' && !fault.done) return;
  if (fault?.kind === 'delay') await new Promise<void>((resolve) => core.clock.after(fault.ms, resolve));
  const injected = fault && faultResponse(fault);
  const response = injected ?? (await respond(core, route, request));
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'lost') return breakOff(core, record, reply);
  const { raw } = reply;
  const isCut = fault?.kind === 'cut';
  core.log.end(record, isCut || raw.destroyed ? null : response.status, response.code);
  if (!raw.destroyed) send(raw, response, isCut);
}

function breakOff(core: Core, record: RequestRecord, reply: FastifyReply): void {
  core.log.end(record, null, null);
  reply.raw.destroy();
}

function send(raw: ServerResponse, { status, headers, body }: RestResponse, isCut: boolean): void {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  raw.writeHead(status, { ...headers, ...length });
  if (!isCut) {
    raw.end(body);
    return;
  }
  const half = Buffer.from(body ?? '').subarray(0, Math.floor((body?.length ?? 0) / 2));
  raw.write(half, () => raw.destroy());
  if (half.length === 0) raw.destroy();
}

async function respond(core: Core, route: Route | null, request: FastifyRequest): Promise<RestResponse> {
  let limited: Record<string, string> = {};
  try {
    if (!route?.open && request.headers.authorization !== `Bot ${core.token}`) throw errors.unauthorized();
    if (!route) throw errors.notFound();
    const params = request.params as Record<string, string>;
    const major = params.channel ?? params.guild ?? params.token ?? '';
    const verdict = core.limits.take(`${route.method} ${route.path}`, major, !route.open);
    limited = verdict.headers;
    if (verdict.refused) return tooMany(verdict.refused.retryAfterMs, verdict.refused.global, limited);
    const { body, uploads } = await readBody(request);
    const query = request.query as Record<string, string>;
    const result = route.run(core, { params, query, body, uploads });
    if (result instanceof Created) return json(201, result.body, limited);
    return json(result === undefined ? 204 : 200, result, limited);
  } catch (error) {
    if (!(error instanceof DiscordError)) throw error;
    return json(error.status, error.toJSON(), limited);
  }
}

export function addRest(app: FastifyInstance, core: Core): void {
  app.register(
    async (api) => {
      api.removeAllContentTypeParsers();
      api.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
      api.setErrorHandler(async (error: { statusCode?: number; message: string }, _request, reply) => {
        const failure =
          error.statusCode === 413 ? errors.tooLarge() : new DiscordError(500, 0, '500: Internal Server Error');
        if (failure.status === 500) process.emitWarning(`The Discord stand-in failed: ${error.message}`);
        if (!reply.sent) return reply.code(failure.status).send(failure.toJSON());
        if (!reply.raw.headersSent) reply.raw.writeHead(failure.status).end(JSON.stringify(failure.toJSON()));
      });
      for (const route of ROUTES)
        api.route({
          method: route.method,
          url: route.path,
          handler: (request, reply) => serve(core, route, request, reply),
        });
      api.setNotFoundHandler((request, reply) => serve(core, null, request, reply));
    },
    { prefix: ROOT },
  );
}
