import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CannotDo } from '../actions.ts';
import type { Sandbox } from '../running.ts';
import { type PageEvent, pageRequest } from './protocol.ts';

const HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
/** By this header, a second sandbox recognizes the first on its port. */
const SANDBOX_HEADER = 'x-ledgerbell-sandbox';
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
  [SANDBOX_HEADER]: '1',
};

class Starting extends Error {}

/** Until `show` is called, it responds that the sandbox is starting. */
export interface PageServer {
  readonly url: string;
  show(sandbox: Sandbox): void;
  close(): Promise<void>;
}

/** Port 0 picks a free one. @throws with a sentence when the port is in use. */
export async function listenForPage(port: number): Promise<PageServer> {
  await using stack = new AsyncDisposableStack();
  const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 1_000 } });
  stack.defer(() => app.close());
  let shown: Sandbox | undefined;

  function sandbox(): Sandbox {
    if (shown === undefined) throw new Starting('The sandbox is still starting. Try again in a few seconds.');
    return shown;
  }

  const bundled = bundle();
  bundled.catch(() => undefined);
  addGuard(app);
  addPage(app, bundled);
  addEvents(app, sandbox);
  addForwarding(app, sandbox);
  try {
    await app.listen({ host: '127.0.0.1', port });
    await bundled;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? new Error(await portInUse(port)) : error;
  }
  const started = stack.move();
  const { port: actual } = app.server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${actual}`,
    show(running) {
      shown = running;
    },
    close: () => started.disposeAsync(),
  };
}

async function portInUse(port: number): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const other = `use another port: SANDBOX_PORT=${port + 1} npm run sandbox`;
  const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  if (response?.headers.has(SANDBOX_HEADER))
    return `A sandbox is already running at ${url}. Open it, stop it with Ctrl-C where it was started, or ${other}`;
  return `Port ${port} is in use by another program. Stop it, or ${other}`;
}

const client = (name: string): string => fileURLToPath(new URL(`client/${name}`, import.meta.url));

/** @throws with esbuild's message when the client's code does not compile. */
async function bundle() {
  const [html, icon, built] = await Promise.all([
    readFile(client('index.html'), 'utf8'),
    readFile(client('icon.svg'), 'utf8'),
    build({
      entryPoints: [client('main.ts'), client('style.css')],
      outdir: '/page',
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: {},
    }),
  ]);
  await stop();
  const text = (ending: string): string => built.outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { html, icon, script: text('.js'), style: text('.css') };
}

/** Only this server's own page may use it: no other web site, and no other name of this machine. */
function addGuard(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin } = request.headers;
    reply.headers(SECURITY_HEADERS);
    if (!HOST.test(host ?? '') || (origin !== undefined && origin !== `http://${host}`))
      return reply.code(403).send({ error: 'Only the sandbox’s own page may use this address.' });
  });
  app.setErrorHandler(async (error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(statusOf(error)).send({ error: error.message }),
  );
}

function statusOf(error: Error & { statusCode?: number }): number {
  if (error instanceof Starting) return 503;
  return error instanceof CannotDo || error instanceof RangeError ? 400 : (error.statusCode ?? 500);
}

function addPage(app: FastifyInstance, bundled: ReturnType<typeof bundle>): void {
  function serve(path: string, type: string, file: keyof Awaited<typeof bundled>): void {
    app.get(path, async (_request, reply) => reply.type(type).send((await bundled)[file]));
  }

  serve('/', 'text/html; charset=utf-8', 'html');
  serve('/page.js', 'text/javascript; charset=utf-8', 'script');
  serve('/page.css', 'text/css; charset=utf-8', 'style');
  serve('/icon.svg', 'image/svg+xml', 'icon');
}

function addEvents(app: FastifyInstance, sandbox: () => Sandbox): void {
  app.get('/_sandbox/events', (request, reply) => stream(sandbox(), request, reply));
  app.post('/_sandbox/act', async (request, reply) => {
    const running = sandbox();
    const parsed = pageRequest.safeParse(request.body);
    if (!parsed.success) return reply.code(400).send({ error: z.prettifyError(parsed.error) });
    const { network, ...action } = parsed.data;
    return { message: await running.act(action, network) };
  });
}

function stream(sandbox: Sandbox, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' });
  const write = (event: PageEvent): void => void raw.write(`data: ${JSON.stringify(event)}\n\n`);
  const greet = (): void =>
    write({ type: 'hello', discord: sandbox.discord.state, world: sandbox.world, transactions: sandbox.transactions });
  greet();
  const stack = new DisposableStack();
  stack.defer(
    sandbox.discord.on((event) => {
      if (event.type === 'reset') greet();
      else if (event.type !== 'request') write({ type: 'discord', event });
    }),
  );
  stack.defer(sandbox.on(write));
  request.raw.on('close', () => stack.dispose());
}

function addForwarding(app: FastifyInstance, sandbox: () => Sandbox): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const url of ['/_control/*', '/attachments/*', '/ephemeral-attachments/*'])
      scope.route({
        method: ['GET', 'POST', 'DELETE'],
        url,
        handler: (request, reply) => forward(sandbox().discord.url, request, reply),
      });
  });
}

function forward(root: string, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const { host: _host, origin: _origin, ...headers } = request.headers;

  function pass(response: IncomingMessage): void {
    reply.raw.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(reply.raw);
  }

  const outgoing = httpRequest(new URL(request.url, root), { method: request.method, headers }, pass);
  outgoing.on('error', () => {
    if (!reply.raw.headersSent) reply.raw.writeHead(502, { 'content-type': 'application/json' });
    reply.raw.end(JSON.stringify({ error: 'The Discord stand-in does not respond.' }));
  });
  reply.raw.on('close', () => outgoing.destroy());
  request.raw.pipe(outgoing);
}
