import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether a path is a folder; undefined when nothing is there. */
const isFolder = (path: string): boolean | undefined => statSync(path, { throwIfNoEntry: false })?.isDirectory();

/**
 * Creates a folder and its missing parents. Node's `recursive` option never returns where no folder can be created
 * (`/proc`). It is here, although it is not pure, because `services/` imports no other room of the bot.
 *
 * @param path absolute, or relative to the working directory
 * @throws the error of the file system, or `ENOTDIR` with the path of a file that stands in the way
 */
export function makeFolder(path: string): void {
  const there = isFolder(path);
  if (there) return;
  if (there === false) throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' });
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}
