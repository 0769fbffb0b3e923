import { DefaultRestOptions, type RESTOptions } from 'discord.js';

/**
 * Sends a request as the library does, but uses Node's `fetch` for a request with a file: on this Node version the
 * library does not accept the form data that it builds itself. Follows no redirects, because they would drop the
 * message.
 */
export const makeRequest: RESTOptions['makeRequest'] = (url, init) =>
  init.body instanceof FormData
    ? (fetch(url, { ...(init as unknown as RequestInit), redirect: 'manual' }) as unknown as ReturnType<
        RESTOptions['makeRequest']
      >)
    : DefaultRestOptions.makeRequest(url, init);
