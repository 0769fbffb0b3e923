import { cpSync, readFileSync, statSync } from 'node:fs';
import { dirname, posix, resolve } from 'node:path';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { defineConfig, type MarkdownOptions } from 'vitepress';

const ROOT = resolve(import.meta.dirname, '../..');
const INDEX = 'docs/README.md';

function sidebar() {
  const [, ...sections] = readFileSync(resolve(ROOT, INDEX), 'utf8').split(/^## /m);
  return sections.map((section) => ({
    text: section.split('\n')[0]!,
    items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\.md\)/gm)].map(([, text, link]) => ({
      text: text!,
      link: linkTo(posix.join('docs', `${link!}.md`)).replace(/(?:index)?\.md$/, ''),
    })),
  }));
}

const rewritten = (page: string): string =>
  page === 'README.md'
    ? 'overview.md'
    : page
        .replace(/^\.github\/(\w+)\.md$/, (_, name: string) => `${name.toLowerCase()}.md`)
        .replace(/^docs\//, '')
        .replace(/(^|\/)README\.md$/, '$1index.md');

/** In light or dark colors as the reader prefers, without fonts from elsewhere. */
function drawDiagram(code: string): string {
  const light = '--bg:#fff;--fg:#1f2328;--line:#8c959f;--accent:#3451b2;--muted:#59636e';
  const dark = '--bg:#1b1b1f;--fg:#dfdfd6;--line:#6e7681;--accent:#a8b1ff;--muted:#98989f';
  const themes = `<style>svg{${light}}@media (prefers-color-scheme: dark){svg{${dark}}}</style>`;
  return renderMermaidSVG(code)
    .replace(/(<svg [^>]*?) style="[^"]*">/, `$1>${themes}`)
    .replace(/^\s*@import .*$/m, '')
    .replaceAll("'Inter', ", '');
}

/** Files that pages link to and that are no pages. */
const attached = new Set<string>();

const markdown: MarkdownOptions = {
  config(md) {
    const fence = md.renderer.rules.fence!;
    md.renderer.rules.fence = (tokens, index, ...rest) => {
      const { info, content } = tokens[index]!;
      if (info !== 'mermaid') return fence(tokens, index, ...rest);
      const svg = Buffer.from(drawDiagram(content)).toString('base64');
      return `<img class="diagram" alt="Diagram" src="data:image/svg+xml;base64,${svg}">\n`;
    };
    md.core.ruler.push('links', ({ tokens, env }) => {
      const { realPath, path } = env as { realPath?: string; path: string };
      for (const token of tokens.flatMap(({ children }) => children ?? [])) {
        const [href = '', anchor = ''] = token.attrGet('href')?.split(/(?=#)/) ?? [];
        if (token.type !== 'link_open' || href === '' || /^([a-z]+:|#)/.test(href)) continue;
        token.attrSet('href', linkTo(posix.relative(ROOT, resolve(dirname(realPath ?? path), href))) + anchor);
      }
    });
  },
};

function linkTo(path: string): string {
  const page = statSync(resolve(ROOT, path)).isDirectory() ? `${path}/README.md` : path;
  if (page.endsWith('.md')) return `/${rewritten(page)}`;
  attached.add(page);
  return `/files/${page}`;
}

export default defineConfig({
  title: 'Ledgerbell',
  description: 'A Discord bot that posts alerts when wallets and tokens move, and loses none.',
  srcDir: '..',
  srcExclude: ['site/**'],
  outDir: '../site',
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites: rewritten,
  // Light or dark as the reader's system is: the diagrams know nothing else.
  appearance: 'force-auto',
  // Attached files; what is no page and cannot be attached stops the build.
  ignoreDeadLinks: [/^\/files\//],
  markdown,
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
  },
  buildEnd({ outDir }) {
    for (const file of attached) cpSync(resolve(ROOT, file), resolve(outDir, 'files', file));
  },
});
