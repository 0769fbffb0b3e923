import { rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock, type InteractionState, seed } from '../../sandbox/discord/index.ts';
import { createSeal } from '../../src/secrets.ts';
import { registered } from '../app.ts';
import { payment, TREASURY } from '../pipeline/harness.ts';
import { openStore, withStore } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { startUpstream } from '../upstream/server.ts';
import { accepted, startBot, startInVain, startStandIn, temporaryFile } from './bot.ts';

const { harbor, orchid, ada } = seed;
const KEYS = { projectId: 'orchids-project', apiKey: 'orchids-api-key', apiSecret: 'orchids-api-secret' };
const OPERATOR = {
  NOTIFICATION_PROJECT_ID: 'operators-project',
  NOTIFICATION_API_KEY: 'operators-api-key',
  NOTIFICATION_API_SECRET: 'operators-api-secret',
};

async function world() {
  // Its time stands still: a busy machine may take long to answer.
  const { discord, environment } = await startStandIn({ clock: createManualClock(Date.now()) });
  const service = await startUpstream(() => ({ body: [] }));
  onTestFinished(() => service.close());
  const file = temporaryFile();
  const start = () =>
    startBot(file, {
      ...OPERATOR,
      ...environment,
      NOTIFICATION_URL: service.url,
      OPERATOR_GUILD_IDS: harbor.id,
      PUBLIC_URL: 'https://bell.example',
      LOG_LEVEL: 'trace',
    });
  const use = async (name: string, channelId: string, options = {}): Promise<InteractionState> => {
    const used = await discord.use({ kind: 'command', name, options, userId: ada, channelId, unchecked: true });
    return used.until(({ status, loading, modal }) => status !== 'waiting' && (modal !== null || !loading));
  };
  const fill = async (on: InteractionState) => {
    const form = { kind: 'modal', interactionId: on.id, values: KEYS, userId: ada } as const;
    return (await discord.use({ ...form, channelId: on.channelId })).final();
  };
  const press = async (on: InteractionState, customId: string) => {
    const { id: messageId, channelId, history } = on.reply!;
    const versions = history.length;
    const pressed = await discord.use({ kind: 'button', messageId, customId, userId: ada, channelId, unchecked: true });
    return pressed.until(({ reply, loading }) => reply !== null && !loading && reply.history.length > versions);
  };
  const ready = () => registered(discord);
  const lines = (channelId: string) => discord.messages(channelId).filter(({ visibleTo }) => visibleTo === null);
  return { discord, file, start, use, fill, press, ready, lines };
}

const event = () => JSON.stringify(payment());
const tokenIn = (shown: InteractionState) => /bell\.example\/hooks\/([\w-]+)/.exec(JSON.stringify(shown))![1]!;

async function post(receiver: string, token: string, body: string): Promise<number> {
  const answer = await request(`${receiver}/hooks/${token}`, { method: 'POST', body });
  await answer.body.dump();
  return answer.statusCode;
}

it('limits a server’s own receiver URL to that server, through restarts and a lost key, until it is erased', async () => {
  const { discord, file, start, use, fill, press, ready, lines } = await world();
  let bot = await start();
  await ready();
  for (const channel of [harbor.alerts, orchid.alerts]) await use('subscription add', channel, { address: TREASURY });
  const saved = await fill(await use('setup project', orchid.lobby));
  const first = tokenIn(saved);
  const [theirs, own] = [event(), event()];
  await accepted(() => bot.post(theirs));
  await accepted(() => post(bot.receiver, first, own));
  await discord.until(
    'both servers have an alert',
    () => lines(harbor.alerts).length > 0 && lines(orchid.alerts).length > 0,
  );

  const rotated = await press(saved, 'setup:rotate');
  const second = tokenIn(rotated);
  for (const token of [first, second]) {
    const body = event();
    await accepted(() => post(bot.receiver, token, body));
  }
  const revoking = await press(rotated, 'setup:revoke');
  await press(revoking, /setup:revoked:\w+/.exec(JSON.stringify(revoking.reply))![0]);
  expect(await post(bot.receiver, first, event())).toBe(404);

  const key = join(dirname(file), 'secrets.key');
  expect(statSync(key).mode & 0o777).toBe(0o600);
  bot.kill('SIGKILL');
  await bot.ended();
  rmSync(key);
  const logs = [JSON.stringify(bot.log)];
  bot = await start();
  await discord.until('the bot is connected again', ({ state }) => state.sessions.some(({ connected }) => connected));
  const last = payment();
  await accepted(() => post(bot.receiver, second, JSON.stringify(last)));
  await discord.until('the last payment is posted in the alerts of Orchid', () =>
    JSON.stringify(lines(orchid.alerts)).includes(String(last.txHash)),
  );
  expect(JSON.stringify(await use('webhook list', orchid.lobby))).toContain('can no longer be decrypted');

  const asked = await use('setup forget', orchid.lobby);
  const erase = /setup:erase:\d+/.exec(JSON.stringify(asked.reply))![0];
  await press(asked, erase);
  expect(await post(bot.receiver, second, event())).toBe(404);
  expect(lines(harbor.alerts)).toHaveLength(1);

  discord.act({ do: 'channel.delete', channelId: harbor.alerts });
  const unseen = event();
  await accepted(() => bot.post(unseen));
  const status = async () => JSON.stringify(await use('status', harbor.general));
  await until('/status reports the blocked channel', async () =>
    (await status()).includes('deleted, or I lost access'),
  );

  logs.push(JSON.stringify(bot.log));
  for (const secret of [
    ...Object.values(KEYS).slice(1),
    ...Object.values(OPERATOR).slice(1),
    first,
    second,
    'path-token',
  ]) {
    expect(logs.join('')).not.toContain(secret);
  }
  expect(logs.join('')).toContain('setup project');
});

it('reseals every stored project with a new SECRETS_KEY in front of the old one, and reports a wrong one', async () => {
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const file = temporaryFile();
  const sealed = createSeal([old]).seal('{}', orchid.id);
  const project = { guildId: orchid.id, projectId: 'p', sealed };
  await withStore(file, ({ projects }) => projects.save(project, 'token'));
  const logOf = async (...keys: Buffer[]) => {
    const bot = await startBot(file, { SECRETS_KEY: keys.map((key) => key.toString('base64')).join() });
    bot.kill('SIGTERM');
    await bot.ended();
    return JSON.stringify(bot.log);
  };
  expect(await logOf(fresh, Buffer.alloc(32, 3))).toMatch(
    new RegExp(`"guilds":\\["${orchid.id}"\\],"msg":"cannot decrypt these servers’ projects`),
  );
  const log = await logOf(fresh, old);
  expect(log).toContain('re-encrypted projects with the new key');
  expect(log).not.toContain('cannot decrypt');
  const after = await withStore(file, ({ projects }) => projects.ofGuild(orchid.id));
  expect(createSeal([fresh]).open(after!.sealed, orchid.id)).toEqual({ text: '{}', stale: false });
});

it('refuses to start when a key file contains no key, says what to do, and releases the database', async () => {
  const file = temporaryFile();
  writeFileSync(join(dirname(file), 'secrets.key'), 'half a k');
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(78);
  expect(stderr).toMatch(/secrets\.key does not contain a key.*Restore it/);
  await (await openStore(file)).close();
});
