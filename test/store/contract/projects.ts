import { describe, expect } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { GUILD, OTHER_GUILD, received, routed, saveProject } from './given.ts';
import type { StoreTest } from './index.ts';

const save = ({ projects }: Store, guildId: string, projectId: string, token: string) =>
  projects.save({ guildId, projectId, sealed: Buffer.from(projectId) }, token);

const tokens = async ({ projects }: Store) =>
  (await projects.tokens()).map(({ token, scope, retiring }) => `${scope} ${token}${retiring ? ' (retiring)' : ''}`);

export function projectsContract(it: StoreTest): void {
  describe('projects', () => {
    it('keeps the scope and the path token of a project that is replaced', async ({ store }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      expect(await save(store, GUILD, 'another', 't2')).toBe(scope);
      expect(await store.projects.ofGuild(GUILD)).toMatchObject({ scope, projectId: 'another' });
      expect(await tokens(store)).toEqual([`${scope} t1`]);
    });

    it('remembers which projects sign their deliveries', async ({ store }) => {
      await save(store, GUILD, 'one', 't1');
      const project = { guildId: OTHER_GUILD, projectId: 'two', sealed: Buffer.from('two'), signed: true };
      await store.projects.save(project, 't2');
      expect((await store.projects.all()).map(({ signed }) => signed)).toEqual([false, true]);
      expect(await store.projects.ofGuild(OTHER_GUILD)).toMatchObject({ signed: true });
      await save(store, OTHER_GUILD, 'two', 't2');
      expect(await store.projects.ofGuild(OTHER_GUILD)).toMatchObject({ signed: false });
    });

    it('gives each guild a scope of its own', async ({ store }) => {
      const [one, two] = [await save(store, GUILD, 'one', 't1'), await save(store, OTHER_GUILD, 'two', 't2')];
      expect(one).not.toBe(two);
      expect(await store.projects.all()).toMatchObject([
        { guildId: GUILD, scope: one, projectId: 'one' },
        { guildId: OTHER_GUILD, scope: two, projectId: 'two' },
      ]);
    });

    it('removes a project with its path tokens and webhook names, and nothing of other guilds', async ({ store }) => {
      await save(store, GUILD, 'one', 't1');
      const other = await save(store, OTHER_GUILD, 'two', 't2');
      for (const guildId of [GUILD, OTHER_GUILD]) await store.projects.nameWebhook(guildId, 0, 'w', 'Main');
      expect(await store.projects.remove(GUILD)).toBe(true);
      expect(await store.projects.remove(GUILD)).toBe(false);
      expect(await store.projects.ofGuild(GUILD)).toBeNull();
      expect(await tokens(store)).toEqual([`${other} t2`]);
      expect((await store.projects.webhookNames(GUILD, 0)).size).toBe(0);
      expect([...(await store.projects.webhookNames(OTHER_GUILD, 0))]).toEqual([['w', 'Main']]);
    });

    it('removes a project with what it used of the inbox', async ({ store }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      const done = await store.inbox.append([received('{}', { scope })]);
      await store.routing.commit(routed({ done }));
      expect(await store.inbox.usage()).toMatchObject([{ scope, dayBytes: 2 }]);
      await store.projects.remove(GUILD);
      expect(await store.inbox.usage()).toEqual([]);
    });

    it('never uses a scope again, so late events of a removed project reach nobody', async ({ store }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      await store.projects.remove(GUILD);
      expect(await save(store, OTHER_GUILD, 'two', 't2')).toBeGreaterThan(scope);
    });

    it('keeps the previous path token until it is revoked and refuses a third one before', async ({ store }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      expect(await store.projects.rotateToken(scope, 't2')).toBe(true);
      expect(await tokens(store)).toEqual([`${scope} t1 (retiring)`, `${scope} t2`]);
      expect(await store.projects.rotateToken(scope, 't3')).toBe(false);
      expect(await store.projects.revokeToken(scope)).toBe(true);
      expect(await store.projects.revokeToken(scope)).toBe(false);
      expect(await tokens(store)).toEqual([`${scope} t2`]);
    });

    it('rotates and revokes the path tokens of one scope only', async ({ store }) => {
      const [one, two] = [await save(store, GUILD, 'one', 'a1'), await save(store, OTHER_GUILD, 'two', 'b1')];
      await store.projects.rotateToken(one, 'a2');
      await store.projects.rotateToken(two, 'b2');
      await store.projects.revokeToken(one);
      expect(await tokens(store)).toEqual([`${one} a2`, `${two} b1 (retiring)`, `${two} b2`]);
    });

    it('adds a path token to the operator’s scope once', async ({ store }) => {
      for (const token of ['t1', 't1']) await store.projects.addToken(token, 0);
      expect(await tokens(store)).toEqual(['0 t1']);
    });

    it('reseals the keys of one project, unless they were replaced meanwhile', async ({ store }) => {
      await save(store, GUILD, 'one', 't1');
      await save(store, OTHER_GUILD, 'two', 't2');
      const before = (await store.projects.ofGuild(GUILD))!;
      await store.projects.reseal(before, Buffer.from('resealed'));
      await store.projects.reseal(before, Buffer.from('stale'));
      const sealed = (await store.projects.all()).map((project) => Buffer.from(project.sealed).toString());
      expect(sealed).toEqual(['resealed', 'two']);
    });

    it('chooses a webhook on each network, until its project is removed', async ({ store }) => {
      const { projects } = store;
      for (const network of [0, 10]) {
        await saveProject(store, GUILD, network);
        await projects.chooseWebhook(GUILD, network, 'old');
        await projects.chooseWebhook(GUILD, network, `w${network}`);
      }
      await projects.chooseWebhook(OTHER_GUILD, 0, 'w');
      await projects.chooseWebhook(OTHER_GUILD, 0, null);
      const chosen = () => Promise.all([0, 10].map((network) => projects.chosenWebhook(GUILD, network)));
      expect(await chosen()).toEqual(['w0', 'w10']);
      expect(await projects.chosenWebhook(OTHER_GUILD, 0)).toBeNull();
      await projects.remove(GUILD, 10);
      expect(await chosen()).toEqual(['w0', null]);
    });

    it('names webhooks within one guild and network, and removes names', async ({ store: { projects } }) => {
      await projects.nameWebhook(GUILD, 0, 'w', 'Main');
      await projects.nameWebhook(GUILD, 0, 'v', 'Second');
      await projects.nameWebhook(OTHER_GUILD, 0, 'w', 'Elsewhere');
      await projects.nameWebhook(GUILD, 10, 'v', 'On another network');
      await projects.nameWebhook(GUILD, 0, 'v', 'Renamed');
      await projects.nameWebhook(GUILD, 0, 'w', null);
      expect([...(await projects.webhookNames(GUILD, 0))]).toEqual([['v', 'Renamed']]);
      expect([...(await projects.webhookNames(OTHER_GUILD, 0))]).toEqual([['w', 'Elsewhere']]);
    });
  });
}
