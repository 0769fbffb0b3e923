import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from 'pino';
import { SECOND } from '../src/domain/clock.ts';
import type { Project } from './notification/types.ts';

/** The projects of a file that may change. */
export interface FollowedProjects {
  list(): readonly Project[];
  stop(): void;
}

const LOOK_EVERY_MS = 2 * SECOND;

/**
 * Reads the projects of a file, and reads it again whenever it changes. If it then cannot be read, the projects stay as
 * they were. `fixed` projects are always among them.
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

  function look(): void {
    try {
      projects = [...fixed, ...read(path)];
      log.info({ projects: projects.length }, 'the projects file changed');
    } catch (error) {
      log.error({ err: error }, 'cannot read the changed projects file: keeping the current projects');
    }
  }

  watchFile(path, { interval: LOOK_EVERY_MS }, look);
  return { list: () => projects, stop: () => unwatchFile(path, look) };
}
