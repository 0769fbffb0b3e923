import { fileURLToPath } from 'node:url';
import { launchBot } from '../bot-process.ts';
import { inTime } from '../until.ts';
import { callApi, HARBOR } from './harness.ts';

const MAIN = fileURLToPath(new URL('../../services/main.ts', import.meta.url));

/** The services as a process of their own. */
export const launchServices = (
  environment: Record<string, string>,
  more: { preloaded?: string[]; args?: string[] } = {},
) => launchBot(environment, { ...more, main: MAIN });

export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

/** Starts them for the project HARBOR, unless the environment says otherwise, and waits until they listen. */
export async function startProcess(environment: Record<string, string>) {
  const launched = launchServices({
    PORT: '0',
    POLL_MS: '50',
    WEBHOOK_ALLOW: '127.0.0.1',
    ...(environment.PROJECTS_FILE === undefined && { PROJECTS: `${HARBOR.id}:${HARBOR.key}:${HARBOR.secret}` }),
    ...environment,
  });
  const listening = new Promise<string>((resolve, reject) => {
    launched.lines.on('line', (line) => {
      if (line.includes('"msg":"listening"')) resolve((JSON.parse(line) as { url: string }).url);
    });
    void launched.ended().then(() => reject(new Error(`The services ended: ${launched.tail()}`)));
  });
  const url = await inTime('the services listen', listening);
  return { ...launched, url, call: callApi(`${url}/notification/v0`) };
}
