import { DefaultRestOptions, type RESTOptions } from 'discord.js';

/**
 * The library's own requests refuse the files that the library itself builds on this Node; the platform's take them, and
 * follow no redirect either: the message would be left behind.
 */
export const makeRequest: RESTOptions['makeRequest'] = (url, init) =>
  init.body instanceof FormData
    ? (fetch(url, { ...(init as unknown as RequestInit), redirect: 'manual' }) as unknown as ReturnType<
        RESTOptions['makeRequest']
      >)
    : DefaultRestOptions.makeRequest(url, init);
