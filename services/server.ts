import { STATUS_CODES } from 'node:http';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';

/** The message is for the client. */
export class Refusal extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Errors have the format of the interface that was called. */
export function openServer(log: Logger): FastifyInstance {
  // Fastify's own log lines would hold the key in the query.
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000 },
    // Fastify's own message would repeat the path with the key in its query.
    frameworkErrors: (_error, request: FastifyRequest, reply: FastifyReply) => {
      refuse(request, reply, 400, 'This path cannot be read: a part of it is too long, or is not URL encoding');
    },
  });
  server.setNotFoundHandler((request, reply) => refuse(request, reply, 404, 'There is nothing at this path'));
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500, message } = error;
    if (statusCode === 415) {
      return refuse(request, reply, 415, 'The body must be JSON, with the header content-type: application/json');
    }
    if (statusCode !== 500) return refuse(request, reply, statusCode, message);
    request.log.error({ err: error }, 'request failed');
    const isExplorer = EXPLORER.test(request.url);
    const text = isExplorer ? 'The chain cannot be read at the moment' : 'The request failed. Try again later.';
    return refuse(request, reply, 500, text);
  });
  return server;
}

const NOTIFICATION = /^(\/[a-z0-9-]+)?\/notification\//;
const EXPLORER = /^(\/[a-z0-9-]+)?\/explorer\/v0/;

function refuse({ url }: FastifyRequest, reply: FastifyReply, statusCode: number, message: string) {
  reply.code(statusCode);
  if (NOTIFICATION.test(url)) {
    return reply.send({ statusCode, errorMessage: message, error: STATUS_CODES[statusCode] ?? 'Error' });
  }
  return reply.send(EXPLORER.test(url) ? { status: '0', message, result: null } : { error: { message } });
}
