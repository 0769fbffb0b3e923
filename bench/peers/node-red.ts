import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../sandbox/ports.ts';
import { installed, installPackages, type Peer, startProgram } from './program.ts';

const VERSION = '5.0.7';

/** Responds with 200, then passes the message to the request. */
const FUNCTION = `
const { value, txHash } = msg.payload;
const answer = { req: msg.req, res: msg.res, payload: { ok: true } };
const message = {
  url: env.get('API_URL') + '/v10/channels/' + msg.req.params.channel + '/messages',
  headers: { authorization: 'Bot none', 'content-type': 'application/json' },
  payload: { embeds: [{ title: 'Received ' + value, description: txHash }] },
};
return [answer, message];`;

const FLOWS = [
  { id: 'flow', type: 'tab', label: 'Alerts' },
  { id: 'in', type: 'http in', z: 'flow', url: '/hook/:channel', method: 'post', wires: [['split']] },
  { id: 'split', type: 'function', z: 'flow', func: FUNCTION, outputs: 2, wires: [['answer'], ['send']] },
  { id: 'answer', type: 'http response', z: 'flow', statusCode: '200', wires: [] },
  { id: 'send', type: 'http request', z: 'flow', method: 'POST', ret: 'obj', persist: true, wires: [[]] },
];

const install = () =>
  installed(`node-red-${VERSION}`, (folder) => installPackages(folder, { dependencies: { 'node-red': VERSION } }));

/** Node-RED without its editor, as for a machine that only runs flows; connections to Discord are kept alive. */
export const nodeRed: Peer = {
  name: `Node-RED ${VERSION}`,
  patienceMs: 10_000,
  install: async () => void (await install()),
  async start(folder, apiUrl) {
    const [port] = await freePorts(1);
    const settings = {
      flowFile: 'flows.json',
      credentialSecret: false,
      uiHost: '127.0.0.1',
      uiPort: port,
      httpAdminRoot: false,
      telemetry: { enabled: false, updateNotification: false },
    };
    writeFileSync(join(folder, 'flows.json'), JSON.stringify(FLOWS));
    writeFileSync(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)};`);
    const script = join(await install(), 'node_modules/node-red/red.js');
    const { memory, kill } = await startProgram(process.execPath, [script, '--userDir', folder], {
      until: /Started flows/,
      env: { API_URL: apiUrl },
    });
    return { memory, kill, urlOf: (channel) => `http://127.0.0.1:${port}/hook/${channel}` };
  },
};
