import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Refusal } from '../server.ts';
import { pageQuery } from './schemas.ts';
import type { RunningNotification } from './service.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Project } from './types.ts';

export type WebhookPath = { Params: { webhookId: string } };

/** Without a reason: a wrong key, a foreign project and an unknown webhook look alike. */
export class Forbidden extends Refusal {
  constructor() {
    super(403, 'Forbidden resource');
  }
}

const MAX_NAMED_FAULTS = 10;

export function refuseOthers(server: FastifyInstance): void {
  server.setNotFoundHandler(({ method, url }) => {
    const [path = ''] = url.split('?');
    const routes = [path, ...['webhookId', 'projectId'].map((name) => path.replace(/[^/]+$/, `:${name}`))];
    const hasRoute = (method: string) => routes.some((route) => server.hasRoute({ method: method, url: route }));
    const isKnown = ['GET', 'POST', 'PUT', 'DELETE'].some(hasRoute);
    throw isKnown
      ? new Refusal(405, `This path does not support ${method}`)
      : new Refusal(404, 'There is nothing at this path');
  });
  // JSON under this type would be refused as "not an object", which explains nothing.
  server.removeContentTypeParser('text/plain');
  // Many clients name a body's type although they send no body; a route that needs one checks for it itself.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : parse(request, text, done),
  );
}

/** Both keys must fit. Compares with every project, so that timing reveals nothing. */
export function authenticate(projects: readonly Project[], request: FastifyRequest): Project {
  const secret = request.headers['api-secret'];
  const { apiKey } = request.query as { apiKey?: unknown };
  if (typeof secret !== 'string' || typeof apiKey !== 'string') throw new Forbidden();
  const found = projects.filter((project) => {
    const keyFits = equal(project.key, apiKey);
    const secretFits = [project.secret, ...(project.otherSecrets ?? [])].map((known) => equal(known, secret));
    return keyFits && secretFits.includes(true);
  });
  if (found[0] === undefined) throw new Forbidden();
  return found[0];
}

function equal(expected: string, given: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

export const projectOf = (request: FastifyRequest): Project => request.getDecorator<Project>('project');

/** @throws {Forbidden} when the project has no such webhook. */
export function webhookOf(
  { store }: RunningNotification,
  request: FastifyRequest,
  id = (request.params as WebhookPath['Params']).webhookId,
): Webhook {
  const webhook = store.webhooks.find(projectOf(request).id, id);
  if (webhook === undefined) throw new Forbidden();
  return webhook;
}

export const readPage = (request: FastifyRequest) => read(pageQuery, request.query);

/** Names the next page in a header, because the body is the documented array. */
export function linkNext(reply: FastifyReply, rows: readonly { id: unknown }[], limit: number | undefined): void {
  if (rows.length === limit) reply.header('ledgerbell-next', String(rows.at(-1)!.id));
}

export function read<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const texts = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  const all = [...new Set(texts)];
  const faults = all.slice(0, MAX_NAMED_FAULTS);
  if (all.length > MAX_NAMED_FAULTS) faults.push(`and ${all.length - MAX_NAMED_FAULTS} more`);
  throw new Refusal(400, faults.join('; '));
}
