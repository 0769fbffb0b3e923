import fc from 'fast-check';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { createManualClock, type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { accepted, type Bot, startBot, temporaryFile } from '../lifecycle/bot.ts';
import { until } from '../until.ts';
import { NAUGHTY } from './naughty.ts';

/*
 * A person's command goes through the stand-in's gateway to the bot, a process of its own. On its way it is changed: it gets
 * another type, other data, fewer fields, or fields of the wrong type.
 */

type Packet = Record<string, unknown>;
let tamper: ((packet: Packet) => Packet) | null = null;
const IDS = [seed.harbor.id, seed.harbor.alerts, seed.ada, '0', '-1', '9'.repeat(400), '18446744073709551616', 'x'];
const odd = fc.oneof(
  fc.constantFrom<unknown[]>(null, true, 0, -1, 1e308, [], {}, [[]], { id: {} }, ...IDS),
  fc.constantFrom(...NAUGHTY),
  fc.jsonValue({ maxDepth: 2 }),
);

const actions = commands.flatMap((command) =>
  Object.entries({ ...command.buttons, ...command.menus, ...('forms' in command ? command.forms : {}) }).map(
    ([action]) => `${command.data.name}:${action}`,
  ),
);
const customId = fc.oneof(
  fc
    .tuple(fc.constantFrom(...actions), fc.array(fc.constantFrom(...IDS, '', 'all', '1', '::', '__proto__')))
    .map(([action, args]) => [action, ...args].join(':')),
  fc.constantFrom('__proto__:__proto__', 'constructor:constructor', 'help:constructor', 'why:toString:1', ':', '::::'),
  fc.constantFrom(...NAUGHTY),
);
const name = fc.constantFrom<string[]>(...commands.map(({ data }) => data.name), '__proto__', 'constructor', '', 'x');
const option = fc.record(
  {
    name: fc.constantFrom('add', 'list', 'search', 'address', 'subscription', 'channel', 'file', '__proto__', ''),
    type: fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 99),
    value: odd,
    focused: fc.boolean(),
    options: odd,
  },
  { requiredKeys: [] },
);
const options = fc.oneof(
  fc.array(option, { maxLength: 4 }),
  option.chain((outer) => fc.array(option, { maxLength: 3 }).map((inner) => [{ ...outer, type: 1, options: inner }])),
  odd,
);

const MESSAGE = { id: '1', channel_id: seed.harbor.alerts, content: '', embeds: [], flags: 64, components: [] };

const shape = fc.oneof(
  fc.record({
    type: fc.constantFrom(2, 4),
    data: fc.record({ id: fc.constant('1'), name, type: fc.constant(1), options }),
  }),
  fc.record({
    type: fc.constant(2),
    data: fc.record({ id: fc.constant('1'), name, type: fc.constantFrom(2, 3, 4, 99), target_id: odd, resolved: odd }),
  }),
  fc.record({
    type: fc.constant(3),
    data: fc.record({ component_type: fc.constantFrom(2, 3, 5, 8, 99), custom_id: customId, values: odd }),
    message: fc.constant(MESSAGE),
  }),
  fc.record({ type: fc.constant(5), data: fc.record({ custom_id: customId, components: odd }) }),
  fc.record({ type: fc.constantFrom<unknown[]>(0, 1, 6, 99, -1, null, '2'), data: odd }),
);
const FIELDS = [
  'data',
  'guild_id',
  'guild',
  'channel',
  'channel_id',
  'member',
  'user',
  'locale',
  'guild_locale',
  'message',
];
const changes = fc.dictionary(
  fc.constantFrom(...FIELDS, 'type', 'entitlements', 'authorizing_integration_owners', 'context', 'app_permissions'),
  fc.oneof(fc.constant(undefined), odd),
  { maxKeys: 2 },
);

const RUNS = 150;
/** Its ID is logged: the line separator in it must not split the line. */
const SEPARATED = { type: 3, data: { component_type: 2, custom_id: 'a\u2028b', values: [] }, message: MESSAGE };
const HELP = { kind: 'command', name: 'help', userId: seed.ada, channelId: seed.harbor.alerts } as const;

async function ready(discord: Discord): Promise<Bot> {
  const bot = await startBot(temporaryFile(), { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
  await discord.until('the commands are registered', ({ state }) =>
    state.commands.some((list) => list.commands.length > 0),
  );
  return bot;
}

it('survives any interaction and responds to the next one', async () => {
  // Its time stands still, so that no deadline passes: a busy machine may take long.
  const discord = await startDiscord({
    limits: 'none',
    clock: createManualClock(Date.now()),
    tamper(name, data) {
      const change = name === 'INTERACTION_CREATE' ? tamper : null;
      if (change) tamper = null;
      return change ? change(data as Packet) : data;
    },
  });
  const bot = await ready(discord);
  // Interactions that discord.js has no class for never reach the bot.
  const isKnown = ({ type, data }: Packet) => {
    const { type: kind, component_type: component } = (data ?? {}) as Packet;
    return (
      [4, 5].includes(type as number) ||
      (type === 2 && kind === 1) ||
      (type === 3 && [2, 3].includes(component as number))
    );
  };
  let known = 0;
  await fc.assert(
    fc.asyncProperty(shape, changes, async (instead, other) => {
      tamper = (packet) => {
        const changed = { ...packet, ...instead, ...other };
        if (isKnown(changed)) known++;
        return changed;
      };
      discord.begin(HELP);
      expect(tamper).toBeNull();
      const next = await discord.use(HELP);
      expect(next.state.status).toBe('acknowledged');
    }),
    { numRuns: RUNS, examples: [[SEPARATED, {}]] },
  );
  // The log has each of them, with the reason if it got no response.
  const reported = ['interaction handled', 'cannot respond to interaction', 'unexpected error'];
  await until(
    'each interaction is in the log',
    () => bot.log.filter(({ msg }) => reported.includes(msg)).length >= RUNS + known,
  );
  expect(known).toBeGreaterThan(RUNS / 4);
  expect((await request(`${bot.ops}/healthz`)).statusCode).toBe(200);
  await accepted(() => bot.post('still here'));
  expect(discord.state.sessions).toMatchObject([{ connected: true, resumed: 0 }]);
  await discord.close();
}, 900_000);
