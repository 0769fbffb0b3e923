import { DefaultRestOptions, type RESTOptions } from 'discord.js';

/** The library's own requests refuse the files that the library itself builds on this Node; the platform's take them. */
export const makeRequest: RESTOptions['makeRequest'] = (url, init) =>
  init.body instanceof FormData
    ? (fetch(url, init as unknown as RequestInit) as unknown as ReturnType<RESTOptions['makeRequest']>)
    : DefaultRestOptions.makeRequest(url, init);
