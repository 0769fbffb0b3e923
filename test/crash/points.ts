import diagnostics from 'node:diagnostics_channel';
import { Server, ServerResponse } from 'node:http';
import { parentPort, Worker } from 'node:worker_threads';
import { watchCommits } from '../store/postgres/crash-points.ts';
import { type Call, type Post, watchEngine } from '../store/sqlite/crash-points.ts';

/**
 * Preloaded into the bot (`node --import`) and into its database thread: ends the process with SIGKILL when it passes
 * the point that CRASH_POINT names (`<point>@<n>`) for the n-th time. The program itself knows nothing of this.
 */

const [wanted, times = '1'] = (process.env.CRASH_POINT ?? '').split('@');
let left = Number(times);

function pass(point: string): void {
  if (point === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
}

function calledIn(message: unknown): string | null {
  if (typeof message !== 'object' || message === null || !('group' in message)) return null;
  const { group, name } = message as Call;
  return `${group}.${name}`;
}

function watchStore(): void {
  const running = new Map<Worker, string>();
  const { postMessage, emit } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: []) {
    const name = calledIn(message);
    if (name !== null) {
      running.set(this, name);
      pass(`${name} asked`);
    }
    postMessage.call(this, message, ...rest);
  };
  Worker.prototype.emit = function (this: Worker, event: string, ...args: unknown[]) {
    const posted: Post | null = event === 'message' ? (args[0] as Post) : null;
    if (posted && 'syncMs' in posted) pass(`${running.get(this)} answered`);
    if (posted && 'ready' in posted) pass('database ready');
    return (emit as (...all: unknown[]) => boolean).call(this, event, ...args);
  } as typeof emit;
}

function watchThread(port: NonNullable<typeof parentPort>): void {
  let current = 'migration';
  const on = port.on.bind(port);
  const post = port.postMessage.bind(port);
  port.on = ((event: 'message', listener: (message: unknown) => void) =>
    on(event, (message: unknown) => {
      const name = calledIn(message);
      if (name !== null) {
        current = name;
        pass(`${name} begun`);
      }
      listener(message);
    })) as typeof port.on;
  port.postMessage = (message: Post) => {
    if ('syncMs' in message) pass(`${current} done`);
    post(message);
  };
  watchEngine(pass, () => current);
}

function watchReceiver(): void {
  const isDelivery = (url: string | undefined) => url?.startsWith('/hooks/') === true;
  diagnostics.subscribe('http.server.request.start', (message) => {
    if (isDelivery((message as { request: { url?: string } }).request.url)) pass('delivery arrived');
  });
  const { end } = ServerResponse.prototype;
  ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
    const counts = this.statusCode === 200 && isDelivery(this.req.url);
    if (counts) {
      pass('200 unwritten');
      this.once('finish', () => pass('200 finished'));
    }
    const result = (end as (...all: unknown[]) => ServerResponse).apply(this, args);
    if (counts) pass('200 written');
    return result;
  } as typeof end;
  const { emit } = Server.prototype;
  Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
    const result = (emit as (...all: unknown[]) => boolean).call(this, event, ...args);
    if (event === 'listening') pass('receiver listening');
    return result;
  } as typeof emit;
}

function watchSending(): void {
  const at = (channel: string, point: string) =>
    diagnostics.subscribe(channel, (message) => {
      const { request } = message as { request: { method: string; path: string } };
      if (!request.path.includes('/messages')) return;
      if (request.method === 'POST') pass(`message ${point}`);
      if (request.method === 'PATCH') pass(`edit ${point}`);
    });
  at('undici:request:create', 'unsent');
  at('undici:client:sendHeaders', 'headers sent');
  at('undici:request:bodySent', 'sent');
  at('undici:request:headers', 'answered');
  at('undici:request:trailers', 'answer read');
}

if (wanted) {
  if (parentPort) watchThread(parentPort);
  else {
    watchStore();
    watchCommits(pass);
    watchReceiver();
    watchSending();
  }
}
