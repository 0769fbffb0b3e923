import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { errorBody } from './notification/requests.ts';

/** Creates a server without routes; errors have the format of the service that was called. */
export function openServer(log: Logger): FastifyInstance {
  // Fastify's own log lines would hold the key in the query.
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000 },
    // Fastify's own message would repeat the path with the key in its query.
    frameworkErrors: (_error, { url }: FastifyRequest, reply: FastifyReply) => {
      const statusCode = 400;
      const message = 'This path cannot be read: a part of it is too long, or is not URL encoding';
      if (/^(\/[a-z0-9-]+)?\/notification\//.test(url)) reply.code(statusCode).send(errorBody(statusCode, message));
      else if (/^(\/[a-z0-9-]+)?\/explorer\/v0/.test(url)) {
        reply.code(statusCode).send({ status: '0', message, result: null });
      } else reply.code(statusCode).send({ error: { message } });
    },
  });
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: { message: 'There is nothing at this path' } }),
  );
  server.setErrorHandler<FastifyError>((error, { log }, reply) => {
    const { statusCode = 500, message } = error;
    if (statusCode >= 500) log.error({ err: error }, 'request failed');
    return reply
      .code(statusCode)
      .send({ error: { message: statusCode < 500 ? message : 'The request failed. Try again later.' } });
  });
  return server;
}
