import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { wholeNumber } from '../config.ts';
import { PAGE_HEADERS, page } from '../html.ts';
import { directoryPage } from './page.ts';
import { type Category, findRows } from './providers.ts';

class BadRequest extends Error {
  readonly statusCode = 400;
}

const filters = z.array(z.object({ id: z.string(), value: z.array(z.string()) }));
const text = (max: number) => {
  const error = `must be one text of at most ${max} characters`;
  return z.string({ error }).max(max, error);
};
/** The query of a category's rows. */
export const rowsQuery = z.object({
  category: z.string({ error: 'is required, once: a key of /api/infrastructure-providers/categories' }),
  search: text(200).default(''),
  filters: text(4000).default('[]').transform(readFilters),
  page: wholeNumber(1, 1_000_000).default(1),
  pageSize: wholeNumber(1, 100).default(20),
});

/** Interface C below the given instance's prefix; errors have the shape `{ error: { message } }`. Pages start at 1. */
export function discoveryRoutes(server: FastifyInstance, root: string, categories: readonly Category[]): void {
  const active = categories.filter((category) => category.active);
  const categoryOf = (key: string) => active.find((category) => category.key === key);
  server.get('/api/infrastructure-providers/categories', () => ({
    result: active.map(({ key, name, rows }) => ({
      key,
      name,
      providers: new Set(rows.map((row) => row.provider)).size,
    })),
  }));

  server.get('/api/infrastructure-providers/rows', (request) => {
    // Forms send empty parameters. They count as missing.
    const given = Object.entries(request.query as object).filter(([, value]) => value !== '');
    const query = rowsQuery.safeParse(Object.fromEntries(given));
    if (!query.success) {
      const faults = new Set(query.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
      throw new BadRequest([...faults].join('; '));
    }
    const { page, pageSize } = query.data;
    const category = categoryOf(query.data.category);
    if (category === undefined) {
      throw new BadRequest(`category is not one of ${active.map(({ key }) => key).join(', ')}`);
    }
    const found = findRows(category.rows, query.data.search, query.data.filters);
    const rows = found.slice((page - 1) * pageSize, page * pageSize);
    return { rows, total: found.length, page, pageSize };
  });

  server.get<{ Params: { category: string }; Querystring: { search?: unknown } }>(
    '/toolbox/:category',
    (request, reply) => {
      const category = categoryOf(request.params.category);
      const { search } = request.query;
      const { title, body } = directoryPage(root, active, category, typeof search === 'string' ? search : '');
      return reply
        .code(category === undefined ? 404 : 200)
        .headers(PAGE_HEADERS)
        .send(page(title, body));
    },
  );
}

function readFilters(text: string, context: z.RefinementCtx): z.infer<typeof filters> {
  try {
    return filters.parse(JSON.parse(text));
  } catch {
    const message = 'must be a JSON array of objects with id (a column) and value (an array of strings)';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
}
