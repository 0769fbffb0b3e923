import type { FastifyInstance } from 'fastify';
import { html, PAGE_HEADERS, page } from '../html.ts';
import { addressPage } from './address.ts';
import { createPageCache, TooBusy } from './cache.ts';
import type { Page, PageContext } from './page.ts';
import { tokenPage } from './token.ts';
import { transactionPage } from './transaction.ts';

/** Pages for people below the given instance's prefix: `/tx/…`, `/address/…` and `/token/…`, where alerts link to. */
export function explorerPages(server: FastifyInstance, context: PageContext): void {
  const cache = createPageCache<Page>(context.clock);
  const show = (path: string, make: (value: string) => Promise<Page>) =>
    server.get<{ Params: { value: string } }>(path, async (request, reply) => {
      const { value } = request.params;
      const { status, title, body } = await cache.get(`${path} ${value.toLowerCase()}`, () => make(value));
      return reply
        .code(status)
        .headers(PAGE_HEADERS)
        .send(page(`${title} · Explorer`, body));
    });
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof TooBusy) {
      const body = html`<h1>Too many people are looking things up</h1><p>Try again in a minute.</p>`;
      return reply
        .code(503)
        .headers({ ...PAGE_HEADERS, 'retry-after': '5' })
        .send(page('Explorer', body));
    }
    request.log.error({ err: error }, 'request failed');
    const body = html`<h1>The chain cannot be read at the moment</h1><p>Try again in a minute.</p>`;
    return reply.code(500).headers(PAGE_HEADERS).send(page('Explorer', body));
  });
  show('/tx/:value', (hash) => transactionPage(context, hash));
  show('/address/:value', (address) => addressPage(context, address));
  show('/token/:value', (address) => tokenPage(context, address));
}
