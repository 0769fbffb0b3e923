import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { wholeNumber } from '../config.ts';
import { type Html, html, PAGE_HEADERS, page, rawHtml } from '../html.ts';
import { Refusal } from '../server.ts';
import { type Category, filters, findRows, type Row } from './providers.ts';

const text = (max: number) => {
  const error = `must be one text of at most ${max} characters`;
  return z.string({ error }).max(max, error);
};
export const rowsQuery = z.object({
  category: z.string({ error: 'is required, once: a key of /api/infrastructure-providers/categories' }),
  search: text(200).default(''),
  filters: text(4000).default('[]').transform(readFilters),
  page: wholeNumber(1, 1_000_000).default(1),
  pageSize: wholeNumber(1, 100).default(20),
});

/** Interface C below the given instance's prefix. */
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
      throw new Refusal(400, [...faults].join('; '));
    }
    const { page, pageSize } = query.data;
    const category = categoryOf(query.data.category);
    if (category === undefined) {
      throw new Refusal(400, `category is not one of ${active.map(({ key }) => key).join(', ')}`);
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

const NOT_DETAILS = ['slug', 'provider', 'offer', 'actionButtons', 'starred', 'description', 'planName'];

function directoryPage(
  root: string,
  categories: readonly Category[],
  category: Category | undefined,
  search: string,
): { title: string; body: Html } {
  const here = rawHtml(' aria-current="page"');
  const nav = html`<nav>${categories.map(
    ({ key, name }) => html`<a href="${root}/toolbox/${key}"${key === category?.key ? here : ''}>${name}</a>`,
  )}</nav>`;
  if (category === undefined) {
    return { title: 'Providers', body: html`<h1>No such category</h1><p>These exist:</p>${nav}` };
  }
  const providers = Map.groupBy(findRows(category.rows, search, []), (row) => row.provider);
  const body = html`<h1>${category.name}</h1>
${nav}
<form method="get" action="${root}/toolbox/${category.key}">
<input type="search" name="search" value="${search}" aria-label="Search ${category.name}" placeholder="Search">
<button>Search</button>
</form>
<p class="soft">${counted(providers.size)}</p>
${[...providers].map(([provider, rows]) => providerArticle(provider, rows))}`;
  return { title: `${category.name} · Providers`, body };
}

function counted(providers: number): string {
  if (providers === 0) return 'No provider here has all these words. Search for fewer, or in another category.';
  return providers === 1 ? '1 provider' : `${providers} providers`;
}

function providerArticle(provider: string, rows: readonly Row[]): Html {
  return html`<article>
<h2>${provider}</h2>
<p>${String(rows[0]?.description ?? '')}</p>
${rows.map(planParagraph)}
</article>`;
}

function planParagraph(row: Row): Html {
  const details = Object.entries(row)
    .filter(([column, value]) => !NOT_DETAILS.includes(column) && value !== null && value !== '')
    .map(([column, value]) => `${inWords(column)}: ${[value].flat().join(', ')}`)
    .join(' · ');
  const links = [row.actionButtons ?? []].flat().flatMap((button) => linkOf(String(button)));
  return html`<p><strong>${String(row.planName ?? row.offer ?? 'Plan')}</strong> ${links}<br><small>${details}</small></p>`;
}

/** None unless it leads to https, because other schemes may be malicious. */
function linkOf(markdown: string): Html[] {
  const [, label, target] = /^\[(.+)\]\((\S+)\)$/.exec(markdown) ?? [];
  if (label === undefined || target === undefined || !URL.canParse(target)) return [];
  const url = new URL(target);
  return url.protocol === 'https:' ? [html`<a href="${url.href}" rel="noreferrer nofollow">${label}</a> `] : [];
}

/** `requestsPerSecond` as `requests per second`. */
function inWords(column: string): string {
  return column.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
