import { posix, resolve } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { drawDiagram } from './diagram.ts';
import { pageAt, resolveFrom, type Section, targetOf } from './paths.ts';

/** Turns a page of the documentation into HTML. */

const ROOT = resolve(import.meta.dirname, '../..');

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** HTML without its tags. */
const plainText = (html: string): string => html.replace(/<[^>]+>/g, '');

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A link from one file of the repository to another, as the site has them. */
function linkBetween(from: string, to: string): string {
  return posix.relative(posix.dirname(targetOf(from)), targetOf(pageAt(ROOT, to)));
}

/** The inside of a page: its HTML, its second-level headings, and its diagrams as SVG files beside it. */
interface Content {
  html: string;
  headings: { id: string; title: string }[];
  diagrams: { name: string; svg: string }[];
}

function contentOf(path: string, text: string): Content {
  if (!path.endsWith('.md'))
    return {
      html: `<h1>${escapeHtml(path)}</h1><pre><code>${escapeHtml(text)}</code></pre>`,
      headings: [],
      diagrams: [],
    };
  const headings: Content['headings'] = [];
  const diagrams: Content['diagrams'] = [];
  const hrefOf = (href: string): string => {
    if (/^[a-z]+:/.test(href)) return href;
    const { path: to, anchor } = resolveFrom(path, href);
    return to === path ? anchor : linkBetween(path, to) + anchor;
  };
  const marked = new Marked({
    renderer: {
      heading({ text: raw, depth, tokens }: Tokens.Heading) {
        const id = anchorOf(raw);
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) headings.push({ id, title: plainText(inner) });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner.replace(/<\/?a\b[^>]*>/g, '')}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(hrefOf(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alt }: Tokens.Image) {
        const source = escapeHtml(hrefOf(href));
        return `<a class="picture" href="${source}"><img src="${source}" alt="${escapeHtml(alt)}" loading="lazy"></a>`;
      },
      code({ lang, text: code }: Tokens.Code) {
        if (lang !== 'mermaid') return false;
        const name = `${posix.basename(path, '.md')}-${diagrams.length + 1}.svg`;
        diagrams.push({ name, svg: drawDiagram(code) });
        const alt = `Diagram: ${headings.at(-1)?.title ?? name}`;
        return `<div class="diagram"><a href="${name}"><img src="${name}" alt="${alt}"></a></div>\n`;
      },
      table(table: Tokens.Table) {
        return htmlOfTable(table, (tokens) => this.parser.parseInline(tokens));
      },
    },
  });
  return { html: marked.parse(text, { async: false }), headings, diagrams };
}

/** A table whose cells know their column's title: on a phone, one with more than two columns becomes a list. */
function htmlOfTable({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
  const head = header.map(({ tokens }) => inline(tokens));
  const titles = head.map(plainText);
  const cell = ({ tokens }: Tokens.TableCell, column: number): string =>
    `<td data-title="${titles[column]}">${inline(tokens)}</td>`;
  const body = rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`).join('\n');
  const top = `<thead><tr>${head.map((title) => `<th>${title}</th>`).join('')}</tr></thead>`;
  const kind = head.length > 2 ? 'table wide' : 'table';
  return `<div class="${kind}"><table>${top}<tbody>${body}</tbody></table></div>\n`;
}

/** A whole page of the site, and its diagrams, which belong beside it. */
export function pageOf({ path, text, sections }: { path: string; text: string; sections: Section[] }) {
  const { html, headings, diagrams } = contentOf(path, text);
  const title = (/^# (.+)$/m.exec(text)?.[1] ?? path).replaceAll('`', '');
  const here = `<ul>${headings.map((one) => `<li><a href="#${one.id}">${one.title}</a></li>`).join('')}</ul>`;
  const itemOf = ({ title: name, path: to }: Section['pages'][number]): string =>
    to === path
      ? `<li><a aria-current="page" href="#">${escapeHtml(name)}</a>${here}</li>`
      : `<li><a href="${linkBetween(path, to)}">${escapeHtml(name)}</a></li>`;
  const groups = sections
    .filter(({ pages }) => pages.length > 0)
    .map((one) => `<h2>${escapeHtml(one.title)}</h2><ul>${one.pages.map(itemOf).join('')}</ul>`);
  const isListed = sections.some(({ pages }) => pages.some((one) => one.path === path));
  const own = isListed || headings.length === 0 ? '' : `<h2>On this page</h2>${here}`;
  const root = posix.relative(posix.dirname(targetOf(path)), '.') || '.';
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src 'self'; style-src 'self'">
<title>${escapeHtml(title)} · Ledgerbell</title>
<link rel="stylesheet" href="${root}/style.css">
<a class="skip" href="#content">Skip to the page</a>
<details class="menu"><summary>Menu</summary></details>
<nav aria-label="Documentation">
<a class="home" href="${linkBetween(path, 'docs/README.md')}">Ledgerbell</a>
${own}${groups.join('\n')}
</nav>
<main id="content">
${html}
</main>
</html>
`;
  return { page, diagrams };
}
