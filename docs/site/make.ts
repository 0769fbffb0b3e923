import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../src/domain/folder.ts';
import { pageOf } from './page.ts';
import { pathsOfSite, sectionsOf, targetOf } from './paths.ts';
import { referenceFiles } from './reference.ts';

/**
 * `npm run docs`: brings the generated pages of docs/reference/ up to date, then makes the site in the folder `site/` (or
 * in the folder that it is given): every page of the documentation as HTML without scripts, readable from the disk or
 * from any web server.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const INDEX = 'docs/README.md';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Writes the site into `folder`, which is emptied first. Returns the paths of its files, relative to the folder. */
export function makeSite(folder: string): string[] {
  const sections = sectionsOf(read(INDEX), INDEX);
  rmSync(folder, { recursive: true, force: true });
  const made = pathsOfSite(ROOT, INDEX).flatMap((path) => {
    const target = targetOf(path);
    makeFolder(dirname(join(folder, target)));
    if (target === path) {
      cpSync(join(ROOT, path), join(folder, target));
      return target;
    }
    const { page, diagrams } = pageOf({ path, text: read(path), sections });
    writeFileSync(join(folder, target), page);
    const drawn = diagrams.map(({ name, svg }) => {
      writeFileSync(join(folder, dirname(target), name), svg);
      return join(dirname(target), name);
    });
    return [target, ...drawn];
  });
  // The folder's own address leads to the index.
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n',
  );
  cpSync(join(import.meta.dirname, 'style.css'), join(folder, 'style.css'));
  return [...made, 'index.html', 'style.css'];
}

if (import.meta.main) {
  for (const [path, content] of Object.entries(await referenceFiles())) writeFileSync(join(ROOT, path), content);
  const folder = resolve(process.argv[2] ?? join(ROOT, 'site'));
  const { length } = makeSite(folder);
  console.log(`${length} files in ${folder}. Open ${join(folder, 'docs/index.html')}`);
}
