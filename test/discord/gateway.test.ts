import { ChannelType, SlashCommandBuilder } from 'discord.js';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../commands/index.ts';
import { type Discord, seed, type WorldAction } from '../../sandbox/discord/index.ts';
import { standIn } from '../discord-stand-in/bot.ts';
import { until } from '../until.ts';
import { type ChangedOptions, startGatewayBot } from './gateway-bot.ts';

const POLL = { timeout: 60_000, interval: 20 };

interface Logged {
  level: number;
  msg: string;
  shard?: number;
}

/** Starts the bot until the test ends; `changes` and `logged` are what its gateway reports and what it logs. */
async function start(discord: Discord, options: ChangedOptions = {}) {
  const changes: unknown[][] = [];
  const logged: Logged[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const membership: ChangedOptions['membership'] = {
    guildChanged: (...change) => void changes.push(['changed', ...change]),
    guildRemoved: (...change) => void changes.push(['guild removed', ...change]),
    guildsSynced: (...guilds) => void changes.push(['guilds', ...guilds]),
  };
  const bot = await startGatewayBot(discord, { membership, ...options }, { log });
  onTestFinished(() => bot.close());
  return { ...bot, changes, logged };
}

const untilReady = ({ gateway }: Pick<Awaited<ReturnType<typeof start>>, 'gateway'>) =>
  until('the gateway is ready', () => gateway.state() === 'ready');

async function startReady() {
  const discord = await standIn({ limits: 'none' });
  const bot = await start(discord);
  await untilReady(bot);
  return { discord, ...bot };
}

const puts = (discord: Discord) =>
  discord.requests().filter(({ method, path }) => method === 'PUT' && path.endsWith('/commands'));
const has = (logged: { msg: string }[], msg: string, times = 1) =>
  logged.filter((line) => line.msg === msg).length >= times;

describe('connecting', () => {
  it('retries when Discord is unreachable at the start', async () => {
    const discord = await standIn({ limits: 'none' });
    const away = discord.fault({ fault: { kind: 'away' } });
    const { gateway, logged } = await start(discord);
    await until(
      'the gateway is away and the log says so',
      () => gateway.state() === 'away' && has(logged, 'no connection to Discord'),
    );
    away.clear();
    await untilReady({ gateway });
  });

  it('uses as many connections as Discord recommends for many servers', async () => {
    const discord = await standIn({ limits: 'none' });
    for (let n = 0; n < 2_501; n++) discord.act({ do: 'guild.create', name: `Server ${n}`, ownerId: seed.ada });
    const { gateway, logged } = await start(discord);
    await until('the log says “connected to Discord”', () => has(logged, 'connected to Discord'));
    expect(gateway.state()).toBe('ready');
    expect(discord.state.sessions.map(({ shard }) => shard.join(' of ')).sort()).toEqual([
      '0 of 3',
      '1 of 3',
      '2 of 3',
    ]);
    expect(logged.find(({ msg }) => msg === 'connected to Discord')).toMatchObject({ guilds: 2_503, shards: 3 });
    // Not even the first connection is refused.
    expect(logged.filter(({ level }) => level > 30)).toEqual([]);
  });

  it('waits when Discord allows no more sessions today, and logs until when', async () => {
    const discord = await standIn({ limits: 'none', sessionStarts: { shards: 16, remaining: 15 } });
    const { gateway, logged } = await start(discord);
    await until('the gateway is away', () => gateway.state() === 'away');
    expect(logged.find(({ msg }) => msg === 'no connection to Discord')).toMatchObject({
      reason: expect.stringMatching(
        /Not enough sessions remaining to spawn 16 shards; only 15 remaining; resets at 2\d{3}-/,
      ),
    });
    expect(discord.state.counters.identifies).toBe(0);
  });

  it('is not ready until every shard is back', async () => {
    const discord = await standIn({ limits: 'none', sessionStarts: { shards: 2 } });
    const { gateway, logged } = await start(discord);
    const shards = () => [...gateway.shards()].sort();
    await expect.poll(shards, { ...POLL, message: 'the shards did not connect' }).toEqual([
      [0, true],
      [1, true],
    ]);
    await untilReady({ gateway });
    const away = [0, 1].map((shard) => discord.fault({ fault: { kind: 'gateway-down', shard } }));
    await expect.poll(shards, { ...POLL, message: 'the shards stayed connected' }).toEqual([
      [0, false],
      [1, false],
    ]);
    away[0]!.clear();
    await expect.poll(shards, { ...POLL, message: 'shard 0 did not come back alone' }).toEqual([
      [0, true],
      [1, false],
    ]);
    expect(gateway.state()).toBe('away');
    away[1]!.clear();
    await expect.poll(gateway.state, { ...POLL, message: 'shard 1 did not come back' }).toBe('ready');
    const lost = logged.filter(({ msg }) => msg === 'connection to Discord lost');
    expect(lost.map(({ shard }) => shard).sort()).toEqual([0, 1]);
  });

  it('keeps running with a refused token, and reports it', async () => {
    const discord = await standIn({ limits: 'none' });
    const { gateway, logged } = await start(discord, { token: 'bm90.the.right-one' });
    await until('the gateway is unauthorized', () => gateway.state() === 'unauthorized');
    expect(JSON.stringify(logged)).toContain('set the right DISCORD_TOKEN and restart');
    expect(JSON.stringify(logged)).not.toContain('right-one');
  });

  it('requests the Guilds intent and nothing else, and ends its session when it is closed', async () => {
    const { discord, gateway } = await startReady();
    expect(discord.state.sessions.map(({ intents }) => intents)).toEqual([1]);
    await gateway.close();
    expect(gateway.state()).toBe('closed');
    await discord.until('every session is disconnected', ({ state }) =>
      state.sessions.every(({ connected }) => !connected),
    );
  });
});

describe('registering', () => {
  it('registers all commands at once, and again only when a definition changed', async () => {
    const discord = await standIn({ limits: 'none' });
    const first = await start(discord);
    await until('the log says “commands registered”', () => has(first.logged, 'commands registered'));
    expect(discord.state.commands.flatMap((list) => list.commands.map(({ name }) => name)).sort()).toEqual(
      commands.map(({ data }) => data.name).sort(),
    );
    await first.close();
    const same = await start(discord);
    await until('the log says “commands registered”', () => has(same.logged, 'commands registered'));
    expect(puts(discord)).toHaveLength(1);
    await same.close();
    const changed = commands.map((command) =>
      !('kind' in command) && command.data.name === 'help'
        ? { ...command, data: new SlashCommandBuilder().setName('help').setDescription('Another text').toJSON() }
        : command,
    );
    const other = await start(discord, { commands: async () => changed });
    await until('the log says “commands registered”', () => has(other.logged, 'commands registered'));
    expect(puts(discord)).toHaveLength(2);
  });

  it('reports at each attempt that commands cannot be loaded, and stays connected', async () => {
    const discord = await standIn({ limits: 'none' });
    const broken = () => Promise.reject(new SyntaxError('half a file'));
    const { gateway, logged } = await start(discord, { commands: broken });
    await until('the log says “cannot register commands” twice', () => has(logged, 'cannot register commands', 2));
    expect(JSON.stringify(logged)).toContain('SyntaxError: half a file');
    expect(gateway.state()).toBe('ready');
  });

  it('retries when Discord refuses the commands', async () => {
    const discord = await standIn({ limits: 'none' });
    discord.fault({ fault: { kind: 'error', status: 403, code: 50001 }, method: 'PUT', times: 1 });
    const { gateway, logged } = await start(discord);
    await until('the log says “cannot register commands”', () => has(logged, 'cannot register commands'));
    expect(gateway.state()).toBe('ready');
    await until('the log says “commands registered”', () => has(logged, 'commands registered'));
  });
});

it('reports changed channels and roles, and only real removals', async () => {
  const { discord, changes } = await startReady();
  const { harbor, orchid } = seed;
  /** The reports about these actions, each kind once, up to the end of the next action. */
  const changesAfter = async (...actions: WorldAction[]) => {
    changes.length = 0;
    const end = discord.act({ do: 'channel.create', guildId: orchid.id, name: 'end' }).id!;
    for (const action of actions) discord.act(action);
    discord.act({ do: 'channel.update', channelId: end, name: 'over' });
    await until('the last change arrives', () => changes.some(([, , id]) => id === end));
    return [...new Set(changes.slice(0, -1).map((change) => change.join(' ')))];
  };
  const changed = (...channel: string[]) => [['changed', harbor.id, ...channel].join(' ')];
  expect(await changesAfter({ do: 'channel.forbid', channelId: harbor.alerts })).toEqual(changed(harbor.alerts));
  const update: WorldAction = { do: 'role.update', roleId: harbor.watchers, permissions: ['ViewChannel'] };
  expect(await changesAfter(update)).toEqual(changed());
  const thread = (type: number) =>
    discord.act({ do: 'channel.create', guildId: harbor.id, parentId: harbor.general, name: 'talk', type }).id!;
  const [open, closed] = [thread(ChannelType.PublicThread), thread(ChannelType.PrivateThread)];
  expect(await changesAfter({ do: 'channel.update', channelId: open, archived: true })).toEqual(changed(open));
  const content = `<@${seed.bot}> come in`;
  const mention: WorldAction = { do: 'message.send', channelId: closed, userId: seed.ada, content };
  expect(await changesAfter(mention)).toEqual(changed(closed));
  // The library keeps that to itself.
  expect(await changesAfter({ do: 'thread.expel', channelId: closed })).toEqual([]);
  expect(await changesAfter(mention)).toEqual(changed(closed));
  const outage: WorldAction[] = [
    { do: 'guild.unavailable', guildId: harbor.id },
    { do: 'guild.available', guildId: harbor.id },
  ];
  expect(await changesAfter(...outage)).toEqual([]);
  expect(await changesAfter({ do: 'guild.remove', guildId: harbor.id })).toEqual([`guild removed ${harbor.id}`]);
});

it('reconnects after Discord was unreachable, with a new session if it has to, and reports which servers the bot is in', async () => {
  const { harbor, orchid } = seed;
  const { discord, gateway, changes } = await startReady();
  const reported = () => changes.filter(([what]) => what === 'guilds');
  expect(reported()).toEqual([['guilds', [harbor.id, orchid.id], [0, 1]]]);
  const away = discord.fault({ fault: { kind: 'away' } });
  await until('the gateway is away', () => gateway.state() === 'away');
  discord.act({ do: 'guild.remove', guildId: harbor.id });
  discord.act({ do: 'gateway.invalidate' });
  away.clear();
  await untilReady({ gateway });
  expect(reported()[1]).toEqual(['guilds', [orchid.id], [0, 1]]);
});
