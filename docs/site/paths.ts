import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { marked, type Tokens } from 'marked';

/** A group of pages in the navigation: a heading of the index and the pages that its list leads to. */
export interface Section {
  title: string;
  pages: { title: string; path: string }[];
}

/** The navigation: each second-level heading of the index, with the first link of each item below it. */
export function sectionsOf(text: string, from: string): Section[] {
  const sections: Section[] = [];
  for (const token of marked.lexer(text)) {
    if (token.type === 'heading' && token.depth === 2) sections.push({ title: token.text as string, pages: [] });
    if (token.type !== 'list') continue;
    for (const item of (token as Tokens.List).items) {
      const link = linksIn(item.text)[0];
      if (link) sections.at(-1)?.pages.push({ title: link.text, path: resolveFrom(from, link.href).path });
    }
  }
  return sections;
}

/** Every link and picture of a page that stays within the repository. */
function linksIn(text: string): { text: string; href: string }[] {
  const found: { text: string; href: string }[] = [];
  void marked.walkTokens(marked.lexer(text), (token) => {
    if ((token.type === 'link' || token.type === 'image') && !/^[a-z]+:/.test(token.href as string))
      found.push({ text: token.text as string, href: token.href as string });
  });
  return found;
}

/** The path in the repository that a link leads to, and its anchor, with its `#`. */
export function resolveFrom(from: string, href: string): { path: string; anchor: string } {
  const [file = '', anchor] = href.split('#');
  const path = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, '');
  return { path, anchor: anchor === undefined ? '' : `#${anchor}` };
}

/**
 * The paths of everything the site needs: every page of docs/, and whatever pages lead to from there.
 *
 * @throws when a link leads to nothing.
 */
export function pathsOfSite(root: string, index: string): string[] {
  const pages = readdirSync(join(root, dirname(index)), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(dirname(index), name));
  const found = new Set<string>([index, ...pages]);
  for (const path of found) {
    if (!path.endsWith('.md')) continue;
    for (const { href } of linksIn(readFileSync(join(root, path), 'utf8'))) {
      const linked = pageAt(root, resolveFrom(path, href).path);
      if (!existsSync(join(root, linked))) throw new Error(`${path} links to ${href}, which does not exist`);
      found.add(linked);
    }
  }
  return [...found];
}

/** The page that shows a path: a folder is shown by its README. */
export function pageAt(root: string, path: string): string {
  const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();
  return isFolder ? posix.join(path, 'README.md') : path;
}

/** The path of a file on the site: a picture stays as it is, everything else is a page. */
export function targetOf(path: string): string {
  if (/\.(png|svg|jpg)$/.test(path)) return path;
  return `${path.replace(/(?<=\/)README\.md$/, 'index').replace(/\.md$/, '')}.html`;
}
