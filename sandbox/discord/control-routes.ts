import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { act } from './act.ts';
import type { ControlEvent, Fault, FaultRule, InteractionRequest, WorldAction } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { stateOf } from './interactions.ts';
import { prepare } from './person.ts';
import { wholeState } from './state.ts';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const FAULTS: readonly Fault['kind'][] = [
  'error',
  'rate-limit',
  'cloudflare',
  'cut',
  'lost',
  'reset',
  'hang',
  'delay',
  'gateway-down',
  'away',
];

function sendEvents({ events }: Core, reply: FastifyReply): void {
  reply.hijack();
  const { raw } = reply;
  const allowed = reply.getHeaders() as OutgoingHttpHeaders;
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...allowed });
  const write = (event: Omit<ControlEvent, 'id' | 'at'>): void => void raw.write(`data: ${JSON.stringify(event)}\n\n`);
  write({ type: 'reset' });
  const stop = events.on(write);
  raw.on('close', stop);
}

function checkFault(rule: FaultRule): void {
  if (!FAULTS.includes(rule?.fault?.kind)) throw new NotPossible(`"fault.kind" must be one of ${FAULTS.join(', ')}.`);
}

/** Local pages and programs may use it, web pages of other machines may not. */
function mayControl(request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin, host } = request.headers;
  if (origin !== undefined && LOOPBACK.test(origin))
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'content-type',
      vary: 'origin',
    });
  else if (origin !== undefined && origin !== `http://${host}`) return false;
  const local = request.socket.remoteAddress?.includes('127.0.0.1') || request.socket.remoteAddress === '::1';
  return !local || HOST.test(host ?? '');
}

async function controlRoutes(app: FastifyInstance, core: Core): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    if (!mayControl(request, reply))
      return reply.code(403).send({ error: 'Only pages of this machine may use /_control.' });
    if (request.method === 'OPTIONS') return reply.code(204).send();
  });
  app.setErrorHandler(async (error: Error & { statusCode?: number }, _request, reply) => {
    const malformed = error instanceof TypeError || error instanceof SyntaxError;
    const status = error instanceof NotPossible || malformed ? 400 : (error.statusCode ?? 500);
    const hint = malformed ? 'This does not match sandbox/discord/control.ts: ' : '';
    return reply.code(status).send({ error: `${hint}${error.message}` });
  });
  app.options('/*', async () => undefined);
  app.get('/state', async () => wholeState(core));
  app.get('/events', (_request, reply) => sendEvents(core, reply));
  app.get('/messages', async (request) => core.messages.all((request.query as { channelId?: string }).channelId));
  app.get('/requests', async (request) => core.log.list(Number((request.query as { after?: string }).after ?? 0)));
  app.post('/interactions', async (request) => {
    const wanted = request.body as InteractionRequest;
    const interaction = core.interactions.begin(wanted, prepare(core, wanted));
    const { wait } = request.query as { wait?: string };
    return wait === 'final' ? interaction.final() : interaction.acknowledged();
  });
  app.get('/interactions/:id', async (request) => {
    const { id } = request.params as { id: string };
    const entry = core.interactions.get(id);
    if (!entry) throw new NotPossible(`There is no interaction ${id}.`);
    return stateOf(entry);
  });
  app.post('/world', async (request) => act(core, request.body as WorldAction));
  app.get('/faults', async () => core.faults.list());
  app.post('/faults', async (request) => {
    const rule = request.body as FaultRule;
    checkFault(rule);
    const { id } = core.faults.add(rule);
    return core.faults.list().find((fault) => fault.id === id);
  });
  app.delete('/faults', async (_request, reply) => {
    core.faults.clear();
    return reply.code(204).send();
  });
  app.delete('/faults/:id', async (request, reply) => {
    core.faults.clear((request.params as { id: string }).id);
    return reply.code(204).send();
  });
}

export function addControl(app: FastifyInstance, core: Core): void {
  app.register(async (control) => controlRoutes(control, core), { prefix: '/_control' });
  for (const folder of ['attachments', 'ephemeral-attachments'])
    app.get(`/${folder}/:owner/:id/:name`, async (request, reply) => {
      const file = core.files.get((request.params as { id: string }).id);
      if (!file) return reply.code(404).type('text/plain').send('This content is no longer available.');
      return reply
        .headers({
          'access-control-allow-origin': '*',
          'x-content-type-options': 'nosniff',
          'content-security-policy': 'sandbox',
        })
        .type(file.contentType)
        .send(file.bytes);
    });
}
