import { createHash, timingSafeEqual } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { EventStyle } from './event.ts';
import { type NotificationSchemas, pageQuery } from './schemas.ts';
import type { RunningNotification } from './service.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Project } from './types.ts';

/** What the routes of interface A work with. */
export interface RouteParts {
  notification: RunningNotification;
  style: EventStyle;
  schemas: NotificationSchemas;
}

/** Refuses without a reason: a wrong key, a foreign project and an unknown webhook look alike. */
export class Forbidden extends Error {
  readonly statusCode = 403;

  constructor() {
    super('Forbidden resource');
  }
}

/** The request is invalid: status 400. */
export class BadRequest extends Error {
  readonly statusCode = 400;
}

class NotFound extends Error {
  readonly statusCode = 404;
}

/** How many faults of a body are named at once. */
const MAX_NAMED_FAULTS = 10;

/** The body of an error. */
export function errorBody(statusCode: number, errorMessage: string) {
  return { statusCode, errorMessage, error: STATUS_CODES[statusCode] ?? 'Error' };
}

/** Gives every error of the routes the documented shape. */
export function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const statusCode = error.statusCode ?? 500;
    if (statusCode >= 500) request.log.error({ err: error }, 'request failed');
    const errorMessage =
      statusCode >= 500
        ? 'The request failed. Try again later.'
        : statusCode === 415
          ? 'The body must be JSON, with the header content-type: application/json'
          : error.message;
    return reply.code(statusCode).send(errorBody(statusCode, errorMessage));
  });
  server.setNotFoundHandler(() => {
    throw new NotFound('There is nothing at this path');
  });
  // JSON under this type would be refused as "not an object", which explains nothing.
  server.removeContentTypeParser('text/plain');
  // Many clients name a body's type although they send no body; a route that needs one checks for it itself.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : parse(request, text, done),
  );
}

/** The project that both keys belong to. Compares with every project, so that timing reveals nothing. */
export function authenticate(projects: readonly Project[], request: FastifyRequest): Project {
  const secret = request.headers['api-secret'];
  const { apiKey } = request.query as { apiKey?: unknown };
  if (typeof secret !== 'string' || typeof apiKey !== 'string') throw new Forbidden();
  const found = projects.filter((project) => {
    const keyFits = equal(project.key, apiKey);
    const secretFits = [project.secret, ...(project.otherSecrets ?? [])].map((one) => equal(one, secret));
    return keyFits && secretFits.includes(true);
  });
  if (found[0] === undefined) throw new Forbidden();
  return found[0];
}

function equal(expected: string, given: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

/** The project that a request's keys belong to. */
export const projectOf = (request: FastifyRequest): Project => request.getDecorator<Project>('project');

/** A webhook of the request's project. @throws {Forbidden} when there is none. */
export function webhookOf({ store }: RunningNotification, request: FastifyRequest, id: string): Webhook {
  const webhook = store.webhooks.find(projectOf(request).id, id);
  if (webhook === undefined) throw new Forbidden();
  return webhook;
}

/** Which page of a list was asked for. */
export function pageOf(request: FastifyRequest): { limit?: number | undefined; after?: string | undefined } {
  return read(pageQuery, request.query);
}

/** Names the next page in a header, because the body is the documented array. */
export function linkNext(reply: FastifyReply, after: string | undefined): void {
  if (after !== undefined) reply.header('ledgerbell-next', after);
}

/** Reads a body. @throws {BadRequest} that names its faults. */
export function read<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const faults = issues
    .slice(0, MAX_NAMED_FAULTS)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  if (issues.length > MAX_NAMED_FAULTS) faults.push(`and ${issues.length - MAX_NAMED_FAULTS} more`);
  throw new BadRequest(faults.join('; '));
}
