import { once } from 'node:events';
import { Client, type ClientOptions, Events, GatewayIntentBits } from 'discord.js';
import { onTestFinished } from 'vitest';
import { type Discord, type DiscordOptions, startDiscord } from '../../sandbox/discord/index.ts';
import { inTime } from '../until.ts';

export async function standIn(options: DiscordOptions = {}): Promise<Discord> {
  const discord = await startDiscord(options);
  onTestFinished(() => discord.close());
  return discord;
}

export async function logIn(discord: Discord, options: Partial<ClientOptions> = {}): Promise<Client<true>> {
  const client = new Client({
    intents: [GatewayIntentBits.Guilds],
    ...options,
    rest: { api: discord.apiUrl, ...options.rest },
  });
  onTestFinished(() => client.destroy());
  const ready = nextEvent(client, Events.ClientReady);
  await client.login(discord.token);
  await ready;
  return client as Client<true>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of any event
export const nextEvent = (client: Client, event: string): Promise<any[]> =>
  inTime(`the bot’s client emits “${event}”`, once(client, event));

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of any response
  body: any;
}

export async function call(
  discord: Discord,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = body instanceof FormData;
  const response = await fetch(`${discord.apiUrl}/v10${path}`, {
    method,
    headers: {
      authorization: `Bot ${discord.token}`,
      ...(body !== undefined && !form && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

export const refusal = ({ status, body }: Answer): [status: number, code: number] => [status, body.code];

/** Yields what a stream of server-sent events brings, until the test ends. */
export async function* eventsOf<Event>(url: string): AsyncGenerator<Event> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(url, { signal: stop.signal });
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) yield JSON.parse(part.replace(/^data: /, '')) as Event;
  }
}

/** A body that is refused, where its error is, and one that is accepted. */
export type Case = [name: string, bad: object, path: string, good: object];

/** A request with a limit: `make(limit)` is accepted, one more is refused. */
export type Limit = [name: string, limit: number, make: (size: number) => object, path: string];

export const atLimit = ([name, limit, make, path]: Limit): Case => [name, make(limit + 1), path, make(limit)];

/** Returns the error code at a path in the tree of a 50035 response. */
export function codeAt(errors: unknown, path: string): string | undefined {
  let node = errors as Record<string, unknown> | undefined;
  for (const key of path === '' ? [] : path.split('.')) node = node?.[key] as Record<string, unknown> | undefined;
  return (node?._errors as { code: string }[] | undefined)?.[0]?.code;
}
