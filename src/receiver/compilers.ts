import type { FastifyServerOptions } from 'fastify';

const unused = () => () => {
  throw new Error('No route has a schema.');
};

/** Keeps Fastify from loading its schema compilers, a third of its code: no route here has a schema. */
export const schemaController: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};
