import type { Core } from './core.ts';
import type { Upload } from './message-rules.ts';
import type { Json } from './validate.ts';

/** `body` is the JSON part of a multipart body. */
export interface Call {
  params: Record<string, string>;
  query: Record<string, string>;
  body: Json;
  uploads: Upload[];
}

/** Its result is the body of a 200, or a {@link Created}, or undefined for 204. */
type Run = (core: Core, call: Call) => Json;

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  run: Run;
  /** Needs no bot token: its path contains an interaction's token, or everybody may use it. */
  open: boolean;
}

/** A response with the status 201. */
export class Created {
  readonly body: Json;
  constructor(body: Json) {
    this.body = body;
  }
}

export const on = (method: Route['method'], path: string, run: Run): Route => ({ method, path, run, open: false });

export const open = (method: Route['method'], path: string, run: Run): Route => ({ method, path, run, open: true });
