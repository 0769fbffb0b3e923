import { type Html, html, rawHtml } from '../html.ts';
import { type Category, findRows, type Row } from './providers.ts';

/** Columns that a plan's details leave out, because the page shows them elsewhere or not at all. */
const NOT_DETAILS = ['slug', 'provider', 'offer', 'actionButtons', 'starred', 'description', 'planName'];

/** The directory page of a category, or the one for an unknown category. */
export function directoryPage(
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

/** Turns a Markdown link into an HTML link; none unless it leads to https, because other schemes may be malicious. */
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
