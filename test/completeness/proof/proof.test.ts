import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Discord, seed as people, startDiscord } from '../../../sandbox/discord/index.ts';
import { freePorts } from '../../../sandbox/ports.ts';
import type { AddressText } from '../../../src/domain/address.ts';
import { botEnvironment, PATH_TOKEN } from '../../app.ts';
import { type BotProcess, launchBot } from '../../bot-process.ts';
import { settle } from '../../crash/settle.ts';
import { type LimitedNode, startLimitedNode } from '../../services/limited-node.ts';
import { luckFrom } from '../../services/proof/operations.ts';
import { openExistingStore } from '../../store/sqlite/database-file.ts';
import { type ProofChain, startProofChain } from './chain.ts';
import { failuresOf } from './failures.ts';
import { createService, SECRET } from './service.ts';
import { problemsOf } from './verify.ts';

/** Rounds of random transfers, events, reorganizations, kills and failures: 10 in CI, 200 on demand. */
const ROUNDS = Number(process.env.PROOF_ROUNDS ?? 10);
/** Of the first round; a failed one can be repeated alone. */
const SEED = Number(process.env.PROOF_SEED ?? 1);
const CONFIRMATIONS = 3;
const POINTS = resolve(import.meta.dirname, '../../crash/points.ts');
const KILLED_AT = ['chainChecks.advance', 'chainChecks.correct', 'inbox.append', 'routing.commit', 'outbox.markSent'];

let chain: ProofChain;
let node: LimitedNode;
let discord: Discord;
let bot: BotProcess;
let database: ReturnType<typeof openExistingStore>;
let environment: Record<string, string>;
let url: string;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'proof-')), (path) => rmSync(path, { recursive: true }));
  chain = stack.adopt(await startProofChain(), (it) => it.close());
  node = stack.adopt(await startLimitedNode(chain.rpcUrl), (it) => it.close());
  discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}/hooks/${PATH_TOKEN}`;
  environment = {
    ...botEnvironment(discord, `sqlite:${join(folder, 'bot.sqlite')}`),
    PORT: String(port),
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    RECEIVER_SOURCES: '127.0.0.1',
    RPC_URL: node.url,
    RPC_CONFIRMATIONS: String(CONFIRMATIONS),
    RPC_RATE: '999999999',
    NODE_COMPILE_CACHE: join(folder, 'cache'),
  };
  stack.defer(() => bot.destroy());
  await launch();
  // It leaves its compiled program behind, which makes every later start faster.
  bot.kill('SIGTERM');
  await bot.exited();
  await launch();
  database = stack.adopt(openExistingStore(join(folder, 'bot.sqlite')), (it) => it.close());
});
afterAll(() => stack.disposeAsync());

let isDoomed = false;

/** Starts the bot, which is killed when it passes a point, if one is named. */
async function launch(point?: string): Promise<void> {
  const main = resolve(import.meta.dirname, 'bot.ts');
  bot = launchBot({ ...environment, ...(point && { CRASH_POINT: point }) }, { main, preloaded: [POINTS] });
  isDoomed = point !== undefined;
  if (!(await bot.started()) && !point) throw new Error(`The bot does not start.\n${bot.tail()}`);
}

async function kill(): Promise<void> {
  bot.kill('SIGKILL');
  await bot.exited();
}

const progress = async () => (await database.store.chainChecks.progress(0))?.progress ?? null;

async function poll(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    if (tries > 1_500) throw new Error(`${what} did not happen.\n${bot.tail()}`);
    await wait(20);
  }
}

async function compared(): Promise<void> {
  const block = (await chain.height()) - CONFIRMATIONS;
  await poll(`block ${block} was compared`, async () => ((await progress())?.block ?? -1) >= block);
}

async function round(seed: number): Promise<string[]> {
  const luck = luckFrom(seed);
  const chance = (share: number) => luck.next() < share;
  const [isSigned, isBlind] = [chance(0.6), chance(0.3)];
  const digits = () => Array.from({ length: 40 }, () => Math.floor(luck.next() * 16).toString(16)).join('');
  const addresses = Array.from({ length: 3 }, (): AddressText => `0x${digits()}`);
  for (const address of addresses) await chain.fund(address);
  await chain.rpc('anvil_mine', [`0x${(CONFIRMATIONS + 1).toString(16)}`]);
  if (environment.NOTIFICATION_SIGNING_SECRET !== (isSigned ? SECRET : '')) {
    environment.NOTIFICATION_SIGNING_SECRET = isSigned ? SECRET : '';
    await kill();
    await launch();
  }
  await compared();
  const channels = new Map<AddressText, string>();
  for (const address of addresses) {
    const { id } = discord.act({
      do: 'channel.create',
      guildId: people.harbor.id,
      name: `watched-${address.slice(-8)}`,
    });
    channels.set(address, id!);
    const place = { guildId: people.harbor.id, channelId: id!, createdBy: people.ada, createdAt: await chain.time() };
    await database.store.subscriptions.add({ ...place, address }, 1_000);
  }
  const before = new Map<AddressText, bigint>();
  for (const address of addresses) before.set(address, await chain.balance(address));
  const first = (await chain.height()) + 1;
  const service = createService(chain, luck, { url, addresses, first, isSigned, mayInvent: !isBlind });
  let rewards: Awaited<ReturnType<ProofChain['reward']>>[] = [];
  const possible = failuresOf(node).filter((one) => isBlind || !one.isBlind);

  async function mine(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      for (let count = luck.next() * 3; count > 0; count--) await chain.operate(luck, addresses);
      await chain.rpc('evm_mine');
      if (chance(0.15)) rewards.push(await chain.reward(luck.pick(addresses)));
      const number = await chain.height();
      await service.serve(await chain.transfers(number, number));
    }
  }

  for (let step = 0; step < 4; step++) {
    const failure = chance(0.5) ? luck.pick(possible) : null;
    failure?.begin();
    await mine(1 + Math.floor(luck.next() * 3));
    if (chance(0.4)) {
      const snapshot = await chain.rpc<string>('evm_snapshot');
      const kept = rewards.slice();
      const depth = 1 + Math.floor(luck.next() * CONFIRMATIONS);
      await mine(depth);
      await chain.rpc('evm_revert', [snapshot]);
      rewards = kept;
      if (chance(0.7)) await chain.sendAgain();
      await mine(depth);
    }
    if (chance(0.3)) await kill();
    if (!bot.isRunning())
      await launch(chance(0.7) ? `${luck.pick(KILLED_AT)} ${luck.pick(['asked', 'begun', 'done'])}@1` : undefined);
    failure?.end();
    if (chance(0.5) && bot.isRunning()) await Promise.race([compared(), bot.exit]);
  }

  if (isDoomed) {
    await kill();
    await launch();
  }
  const last = await chain.height();
  await chain.rpc('anvil_mine', ['0x8']);
  await compared();
  await service.end();
  for (let times = 0; times < 2; times++) {
    await poll(
      'everything was routed',
      async () => (await database.store.metrics.backlog(Date.now())).inbox.waiting === 0,
    );
    await chain.rpc('evm_mine');
    await compared();
  }
  const left = await settle(
    async () => ({ store: database.store, close: () => undefined }),
    () => 0,
  );
  const { block, unchecked } = (await progress())!;
  const stored = await database.store.chainChecks.stored(0, { after: 0, upTo: block }, addresses, []);
  const happened = { channels, before, first, last, rewards, isSigned, isBlind, unchecked, stored };
  const look = () => problemsOf(chain, discord, happened);
  let wrong = await look();
  // Messages may still be edited.
  for (let tries = 0; wrong.length > 0 && tries < 50; tries++) {
    await wait(100);
    wrong = await look();
  }
  return [...left, ...wrong].map((problem) => `seed ${seed}: ${problem}`);
}

it(
  'posts every transfer once after all, whatever the service, the chain, the node and the bot do',
  async () => {
    const problems: string[] = [];
    for (let index = 0; index < ROUNDS; index++) {
      const found = await round(SEED + index);
      problems.push(...found);
      if (ROUNDS > 10) process.stdout.write([`${index + 1} of ${ROUNDS} rounds`, ...found, ''].join('\n'));
    }
    expect(problems).toEqual([]);
  },
  300_000 + ROUNDS * 60_000,
);
