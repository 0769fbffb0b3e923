/** The type of REST routes. */
import type { Core } from './core.ts';
import type { Upload } from './message-rules.ts';
import type { Json } from './validate.ts';

/** A request as routes see it: path parameters by name, the JSON part of the body, and its files. */
export interface Call {
  params: Record<string, string>;
  query: Record<string, string>;
  body: Json;
  uploads: Upload[];
}

/** Returns the body of a response with the status 200, or a {@link Created}, or undefined for 204. */
type Run = (core: Core, call: Call) => Json;

/** One route. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  run: Run;
  /** Needs no bot token: either its path contains an interaction's token, or everybody may use it. */
  open: boolean;
}

/** The body of a response with the status 201. */
export class Created {
  readonly body: Json;
  constructor(body: Json) {
    this.body = body;
  }
}

/** Returns a route that needs the bot's token. */
export const on = (method: Route['method'], path: string, run: Run): Route => ({ method, path, run, open: false });

/** Returns a route that needs no token of the bot. */
export const open = (method: Route['method'], path: string, run: Run): Route => ({ method, path, run, open: true });
