import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BARE_ENVIRONMENT } from '../bare-environment.ts';
import { inTime } from '../until.ts';
import { callApi, HARBOR } from './harness.ts';

export const MAIN = fileURLToPath(new URL('../../services/main.ts', import.meta.url));

export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

export async function startProcess(environment: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...BARE_ENVIRONMENT,
      PORT: '0',
      POLL_MS: '50',
      WEBHOOK_ALLOW: '127.0.0.1',
      ...(environment.PROJECTS_FILE === undefined && { PROJECTS: `${HARBOR.id}:${HARBOR.key}:${HARBOR.secret}` }),
      ...environment,
    },
  });
  let output = '';
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const line = output.split('\n').find((one) => one.includes('"msg":"listening"'));
      if (line !== undefined) resolve((JSON.parse(line) as { url: string }).url);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.once('close', () => reject(new Error(`The services ended: ${output}`)));
  });
  const url = await inTime('the services listen', listening);
  return {
    child,
    url,
    output: () => output,
    call: callApi(`${url}/notification/v0`),
  };
}
