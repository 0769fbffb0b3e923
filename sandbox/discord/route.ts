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

/** One route. `open` ones need no bot token: either their path contains an interaction's token, or everybody may use them. */
export interface Route {
  method: HTTPMethods;
  path: string;
  open?: boolean;
  run(call: Call): RouteResult;
}

/** A response's status, and its body unless it is empty. */
export interface RouteResult {
  status: number;
  body?: Json;
}

export const ok = (body: Json): RouteResult => ({ status: 200, body });
export const created = (body: Json): RouteResult => ({ status: 201, body });
export const NO_CONTENT: RouteResult = { status: 204 };
