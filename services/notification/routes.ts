import type { FastifyInstance } from 'fastify';
import { addressRoutes } from './address-routes.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import type { EventStyle } from './event.ts';
import { authenticate, handleErrors } from './requests.ts';
import { notificationSchemas } from './schemas.ts';
import type { RunningNotification } from './service.ts';
import type { Project } from './types.ts';
import { webhookRoutes } from './webhook-routes.ts';

/** Dependencies of the routes of interface A. */
export interface NotificationRoutes {
  notification: RunningNotification;
  /** The current projects. */
  projects(): readonly Project[];
  style: EventStyle;
}

/**
 * Interface A below the given instance's prefix. Every call needs the header API-SECRET and the query parameter
 * `apiKey` of the same project; errors have the shape `{ statusCode, errorMessage, error }`.
 */
export function notificationRoutes(server: FastifyInstance, options: NotificationRoutes): void {
  const { notification, projects, style } = options;
  const schemas = notificationSchemas(style.nativeSymbol, notification.permits);
  handleErrors(server);
  server.decorateRequest('project', null);
  server.addHook('onRequest', async (request) => request.setDecorator('project', authenticate(projects(), request)));
  const shared = { notification, style, schemas };
  webhookRoutes(server, shared);
  addressRoutes(server, shared);
  deliveryRoutes(server, shared);
}
