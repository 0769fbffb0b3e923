/** The type of REST routes. */
import type { HTTPMethods } from 'fastify';
import type { Upload } from './message-rules.ts';
import type { Json } from './validate.ts';

/** A request as routes see it: path parameters by name, the JSON part of the body, and its files. */
export interface Call {
  params: Record<string, string>;
  query: Record<string, string>;
  body: Json;
  uploads: Upload[];
}

/** One route. `open` ones need no bot token, because their path contains one. */
export interface Route {
  method: HTTPMethods;
  path: string;
  open?: boolean;
  run(call: Call): { status: number; body?: Json };
}
