import { openExplorer, openProjects } from '../command-services.ts';
import type { Explorer } from '../upstream/explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from '../upstream/health.ts';
import type { Projects } from '../upstream/projects.ts';
import type { Data } from './data.ts';
import type { Parts } from './parts.ts';

/** The services of others, and what is known about their health. */
export interface Interfaces {
  health: InterfaceHealth;
  projects: Projects;
  explorer: Explorer | null;
}

/** Opens the clients of the interfaces. */
export async function openInterfaces({ config, clock, log, now, stack }: Parts, data: Data): Promise<Interfaces> {
  const { store, keyFile, tokens } = data;
  const health = createInterfaceHealth({ clock, log });
  stack.defer(health.close);
  const projects = await openProjects(config, { store, keyFile, health, onTokens: tokens.refresh, now, log });
  return { health, projects, explorer: openExplorer(config, health, now) };
}
