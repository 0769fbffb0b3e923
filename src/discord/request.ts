import { DefaultRestOptions, type RESTOptions } from 'discord.js';

/**
 * Sends a request as the library does, but one with a file by the platform's own `fetch`: on this Node the library does
 * not take the form data that it builds itself. No redirect is followed, because the message would be left behind.
 */
export const makeRequest: RESTOptions['makeRequest'] = (url, init) =>
  init.body instanceof FormData
    ? (fetch(url, { ...(init as unknown as RequestInit), redirect: 'manual' }) as unknown as ReturnType<
        RESTOptions['makeRequest']
      >)
    : DefaultRestOptions.makeRequest(url, init);
