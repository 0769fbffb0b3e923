import type { FastifyServerOptions } from 'fastify';

const unused = () => () => {
  throw new Error('No route has a schema.');
};

/** No route has a schema, and nothing then compiles one: the compilers, a third of what Fastify loads, stay away. */
export const schemaController: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};
