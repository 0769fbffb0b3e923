import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const isFolder = (path: string): boolean | undefined => statSync(path, { throwIfNoEntry: false })?.isDirectory();

/**
 * Node's `recursive` option never returns where no folder can be created (`/proc`). This is here, although it is not
 * pure, because `services/` imports no other room of the bot.
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
