import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from 'pino';
import type { Project } from './notification/types.ts';

/** The projects of a file that is read again when it changes. */
export interface FollowedProjects {
  list(): readonly Project[];
  stop(): void;
}

const LOOK_EVERY_MS = 2000;

/**
 * Reads the projects of a file, and again whenever it changes. A file that cannot be read leaves the projects as they
 * were.
 *
 * @throws what the first `read` throws.
 */
export function followProjects(
  path: string,
  fixed: readonly Project[],
  read: (path: string) => Project[],
  log: Logger,
): FollowedProjects {
  let projects = [...fixed, ...read(path)];
  const look = (): void => {
    try {
      projects = [...fixed, ...read(path)];
      log.info({ projects: projects.length }, 'the projects file changed');
    } catch (error) {
      log.error({ err: error }, 'cannot read the changed projects file: keeping the current projects');
    }
  };
  watchFile(path, { interval: LOOK_EVERY_MS }, look);
  return { list: () => projects, stop: () => unwatchFile(path, look) };
}
