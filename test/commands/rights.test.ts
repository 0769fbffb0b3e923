import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { remember } from './stored.ts';
import { A, B, buttonsOf, type CommandWorld, isPrivate, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const ONLY = /This needs \*\*Manage Server\*\*\. The manager role is not enough\./;
/** Noa has the manager role and nothing else; Max has Manage Server. */
const [noa, max] = [{ as: seed.noa }, { as: seed.max }];
let world: CommandWorld;
beforeAll(async () => {
  world = await startWorld();
  await world.use('setup server', { manager: harbor.watchers });
  world.discord.act({ do: 'member.update', guildId: harbor.id, userId: seed.noa, roleIds: [harbor.watchers] });
});
afterAll(() => world.close());

const mentionable = (is: boolean) => world.discord.act({ do: 'role.update', roleId: harbor.watchers, mentionable: is });

describe('the manager role', () => {
  it('refuses to let the manager role appoint another role or remove itself', async () => {
    for (const manager of [harbor.watchers, harbor.id]) {
      expect(textOf(await world.use('setup server', { manager }, noa))).toMatch(ONLY);
    }
    expect((await world.store.guilds.settings(harbor.id)).managerRole).toBe(harbor.watchers);
    expect(textOf(await world.use('setup server', { timezone: 'UTC' }, noa))).toContain('Saved');
  });

  it('refuses to let the manager role erase the server’s data', async () => {
    expect(textOf(await world.use('setup forget', {}, noa))).toMatch(ONLY);
    expect((await world.store.guilds.settings(harbor.id)).managerRole).toBe(harbor.watchers);
  });

  it('shows the manager role the project without its receiver URL, and refuses changes', async () => {
    const panelFor = async (who: object) => world.press(await world.use('setup check', {}, who), 'setup:receiver', who);
    const shown = await panelFor(max);
    expect(shown).toSatisfy(isPrivate);
    expect(textOf(shown)).toContain('/hooks/');
    const hidden = await panelFor(noa);
    expect(JSON.stringify(hidden)).not.toContain('/hooks/');
    expect(textOf(hidden)).toContain('Only people with **Manage Server** can see it');
    expect(buttonsOf(hidden)).toEqual([]);
  });
});

describe('the receiver URL', () => {
  it('shows the receiver URL only after a press on its button', async () => {
    const answers = [
      await world.use('setup check'),
      await world.use('status'),
      await world.use('subscription add', { address: B }),
      await world.use('subscription list'),
      await world.use('help'),
    ];
    for (const answer of answers) expect(JSON.stringify(answer)).not.toContain('/hooks/');
  });
});

describe('a role to ping', () => {
  const add = (channel: string, who: object) =>
    world.use('subscription add', { address: lower(TOKEN), channel, mention: harbor.watchers }, who);

  it('refuses a role to ping, in a new or an old subscription, to somebody who could not ping it', async () => {
    mentionable(false);
    expect(textOf(await add(harbor.alerts, noa))).toMatch(/You can’t ping <@&\d+> in that channel yourself/);
    const { id } = await world.subscribe({ address: lower(A) });
    const changed = await world.use('subscription edit', { subscription: String(id), mention: harbor.watchers }, noa);
    expect(textOf(changed)).toMatch(/You can’t ping/);
    const file = { filename: 'more.csv', text: `address,channel,mention\n${B},#general,${harbor.watchers}` };
    expect(textOf(await world.use('subscription import', { file }, noa))).toMatch(/You can’t ping/);
    expect((await world.store.subscriptions.list(harbor.id)).filter(({ mention }) => mention !== null)).toEqual([]);
  });

  it('accepts a role to ping that everybody may mention, or from somebody who may mention every role', async () => {
    mentionable(true);
    expect(textOf(await add(harbor.alerts, noa))).not.toMatch(/You can’t ping/);
    mentionable(false);
    expect(textOf(await add(harbor.whales, { as: seed.ada }))).not.toMatch(/You can’t ping/);
    const pinging = (await world.store.subscriptions.list(harbor.id)).filter(({ mention }) => mention !== null);
    expect(pinging.map(({ channelId }) => channelId)).toEqual([harbor.alerts, harbor.whales]);
  });

  it('refuses to make a role be pinged more often to somebody who could not ping it', async () => {
    const pinging = (await world.store.subscriptions.list(harbor.id)).find(({ mention }) => mention !== null)!;
    const often = { subscription: String(pinging.id), 'mention-cooldown': 0 };
    expect(textOf(await world.use('subscription edit', often, noa))).toMatch(/You can’t ping/);
    const text = `address,channel,mention-cooldown\n${pinging.address},${pinging.channelId},0`;
    const file = { filename: 'often.csv', text };
    expect(textOf(await world.use('subscription import', { file }, noa))).toMatch(/You can’t ping/);
    expect(await world.store.subscriptions.list(harbor.id)).toContainEqual(pinging);
  });

  it('refuses to move a subscription with a role to ping to a channel where the person could not ping it', async () => {
    const pinging = (await world.store.subscriptions.list(harbor.id)).find(({ mention }) => mention !== null)!;
    const moved = { subscription: String(pinging.id), channel: harbor.general };
    expect(textOf(await world.use('subscription edit', moved, noa))).toMatch(/You can’t ping/);
  });
});

describe('names and the watch list', () => {
  it('offers a member only names of addresses whose alerts they see', async () => {
    const named = { createdBy: seed.ada, at: 0 };
    const unwatched = `0x${'9'.repeat(40)}` as const;
    await world.store.labels.set(harbor.id, { ...named, address: unwatched, name: 'Secret fund' }, 10);
    const offered = async (who: object) => JSON.stringify(await world.choices('token', 'address', {}, who));
    expect(await offered({ as: seed.mia })).not.toContain('Secret fund');
    expect(await offered(max)).toContain('Secret fund');
  });

  it('limits a server’s dry run to transfers of its own subscriptions', async () => {
    const to = lower(`0x${'8'.repeat(40)}`);
    await remember(world.store, world.clock.now(), [{ to, ago: 2 }]);
    const dryRun = async (who: object) => textOf(await world.use('subscription add', { address: to }, who));
    expect(await dryRun({ in: orchid.lobby })).toMatch(/Not|No|nothing/i);
    expect(await dryRun({ in: orchid.lobby })).not.toMatch(/tx\//);
  });
});

describe('/setup audit', () => {
  it('shows the audit log in private pages', async () => {
    for (let n = 1; n <= 20; n++) {
      const detail = { name: '`@everyone` [x](https://evil.example)' };
      await world.store.audit.record({
        guildId: orchid.id,
        userId: seed.ada,
        action: n === 20 ? 'unheard.of' : 'label.set',
        detail,
        at: world.clock.now() + n * 1000,
      });
    }
    const here = { in: orchid.lobby };
    const first = await world.use('setup audit', {}, here);
    expect(first).toSatisfy(isPrivate);
    const text = textOf(first);
    expect(text).toMatch(/^\d+ changes/);
    expect(text).toContain('`unheard of`');
    expect(text).toContain(`**Address named** · <@${seed.ada}> · <t:`);
    expect(text).toContain('Entries are kept for one year.');
    const second = await world.press(first, 'setup:audit:1', here);
    expect(textOf(second)).not.toContain('unheard');
    expect(textOf(second)).toContain('Page 2');
  });

  it('hides watched addresses in the audit log from the manager role, and not from Manage Server', async () => {
    const entries = [
      { action: 'subscription.add', detail: { address: '0xhidden' } },
      { action: 'webhook.fill', detail: { webhook: 'w1', addresses: ['0xhidden'] } },
    ];
    for (const entry of entries) {
      await world.store.audit.record({ guildId: harbor.id, userId: seed.ada, ...entry, at: world.clock.now() + 1e6 });
    }
    expect(textOf(await world.use('setup audit', {}, max)).match(/0xhidden/g)).toHaveLength(2);
    const text = textOf(await world.use('setup audit', {}, noa));
    expect(text).toContain('Subscription added');
    expect(text).not.toContain('0xhidden');
  });

  it('reports that the audit log is empty', async () => {
    await world.use('setup forget', {}, { in: orchid.lobby });
    const asked = await world.use('setup forget', {}, { in: orchid.lobby });
    await world.press(asked, 'setup:erase', { in: orchid.lobby });
    expect(textOf(await world.use('setup audit', {}, { in: orchid.lobby }))).toContain('Nothing was changed yet');
  });
});
