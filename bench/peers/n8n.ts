import { execFile } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '../../sandbox/ports.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { newFolder } from '../children.ts';
import { installed, installPackages, type Peer, startProgram } from './program.ts';

const VERSION = '2.40.7';
/** Newer versions of this transitive dependency need a package that is not available everywhere. */
const OVERRIDES = { linkedom: '0.18.12' };
const INSTALL_MS = 10 * MINUTE;
const START_MS = 2 * MINUTE;
const ID = 'alerts';
const HOOK = 'Webhook';
const REQUEST = 'HTTP Request';

const run = promisify(execFile);

/** Responds at once, a webhook's default, then posts; a failed request is retried. */
const workflow = (apiUrl: string) => ({
  id: ID,
  name: 'Alerts',
  active: false,
  settings: { executionOrder: 'v1' },
  connections: { [HOOK]: { main: [[{ node: REQUEST, type: 'main', index: 0 }]] } },
  nodes: [
    {
      id: '11111111-1111-4111-8111-111111111111',
      name: HOOK,
      type: 'n8n-nodes-base.webhook',
      typeVersion: 2.1,
      position: [0, 0],
      webhookId: '22222222-2222-4222-8222-222222222222',
      parameters: { httpMethod: 'POST', path: 'hook', responseMode: 'onReceived', options: {} },
    },
    {
      id: '33333333-3333-4333-8333-333333333333',
      name: REQUEST,
      type: 'n8n-nodes-base.httpRequest',
      typeVersion: 4.5,
      position: [200, 0],
      retryOnFail: true,
      parameters: {
        method: 'POST',
        url: `=${apiUrl}/v10/channels/{{ $json.query.channel }}/messages`,
        sendHeaders: true,
        headerParameters: { parameters: [{ name: 'authorization', value: 'Bot none' }] },
        sendBody: true,
        specifyBody: 'json',
        jsonBody:
          "={{ JSON.stringify({ embeds: [{ title: 'Received ' + $json.body.value, description: $json.body.txHash }] }) }}",
        options: {},
      },
    },
  ],
});

const install = () =>
  installed(`n8n-${VERSION}`, async (folder) => {
    const until = Date.now() + INSTALL_MS;
    // Of the native modules, only the default database is used.
    await installPackages(folder, { dependencies: { n8n: VERSION }, overrides: OVERRIDES }, INSTALL_MS, [
      '--ignore-scripts',
    ]);
    const timeout = Math.max(1, until - Date.now());
    await run('npm', ['rebuild', 'sqlite3'], { cwd: folder, timeout, maxBuffer: 2 ** 26 });
  });

const cli = (args: string[], env: Record<string, string>) =>
  run(process.execPath, args, { env: { ...process.env, ...env }, timeout: START_MS });

/** Databases that have the workflow for a Discord, to be copied. */
const prepared = new Map<string, string>();

/** Creates a database with the workflow, which takes longer than everything else, or copies an earlier one. */
async function prepare(folder: string, apiUrl: string, command: (args: string[]) => Promise<unknown>): Promise<void> {
  const before = prepared.get(apiUrl);
  if (before) return cpSync(before, folder, { recursive: true });
  const file = join(folder, 'workflow.json');
  writeFileSync(file, JSON.stringify(workflow(apiUrl)));
  await command(['import:workflow', `--input=${file}`]);
  await command(['publish:workflow', `--id=${ID}`]);
  const copy = newFolder();
  process.once('exit', copy.remove);
  cpSync(folder, copy.path, { recursive: true });
  prepared.set(apiUrl, copy.path);
}

/** Waits until the workflow accepts webhooks, which is later than the editor is ready and is not logged. */
async function published(url: string): Promise<void> {
  let text = '';
  for (const until = Date.now() + START_MS; Date.now() < until; await wait(200)) {
    text = await (await fetch(url)).text();
    // The response to a GET once there is a webhook for POST.
    if (text.includes('Did you mean to make a POST')) return;
  }
  throw new Error(`n8n did not publish its workflow within ${START_MS / 1_000} s: ${text.slice(0, 200)}`);
}

/** n8n with its defaults: SQLite, executions kept; telemetry is off. */
export const n8n: Peer = {
  name: `n8n ${VERSION}`,
  patienceMs: 20_000,
  install: async () => void (await install()),
  async start(folder, apiUrl) {
    const script = join(await install(), 'node_modules/n8n/bin/n8n');
    const [port, broker] = await freePorts(2);
    const env = {
      N8N_USER_FOLDER: folder,
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_PORT: String(port),
      N8N_RUNNERS_BROKER_PORT: String(broker),
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_PERSONALIZATION_ENABLED: 'false',
      EXTERNAL_FRONTEND_HOOKS_URLS: '',
    };
    if (!existsSync(join(folder, '.n8n'))) await prepare(folder, apiUrl, (args) => cli([script, ...args], env));
    const program = await startProgram(process.execPath, [script, 'start'], {
      until: /Editor is now accessible/,
      env,
      withinMs: START_MS,
    });
    const url = `http://127.0.0.1:${port}/webhook/hook`;
    try {
      await published(url);
    } catch (error) {
      await program.kill();
      throw error;
    }
    return { ...program, urlOf: (channel) => `${url}?channel=${channel}` };
  },
};
