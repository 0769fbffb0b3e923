import { describe, expect } from 'vitest';
import { NO_SETTINGS } from '../../../src/domain/guild.ts';
import { ADA, address, BOB, GUILD, NOW, OTHER_GUILD, TREASURY } from './given.ts';
import type { StoreTest } from './index.ts';

export function guildsContract(it: StoreTest): void {
  describe('guilds', () => {
    it('changes only the settings that are named and returns all of them', async ({ store: { guilds } }) => {
      await guilds.changeSettings(GUILD, { timezone: 'Asia/Tokyo', defaultChannel: '5' });
      const changed = await guilds.changeSettings(GUILD, { language: 'de', defaultChannel: null });
      expect(changed).toEqual({ ...NO_SETTINGS, timezone: 'Asia/Tokyo', language: 'de' });
      expect(await guilds.settings(GUILD)).toEqual(changed);
      expect(await guilds.settings(OTHER_GUILD)).toEqual(NO_SETTINGS);
    });

    it('prefers the chosen language to the guild’s own at Discord', async ({ store: { guilds } }) => {
      expect(await guilds.language(GUILD)).toBeNull();
      await guilds.recordLocale(GUILD, 'fr');
      await guilds.recordLocale(GUILD, null);
      expect(await guilds.language(GUILD)).toBe('fr');
      await guilds.changeSettings(GUILD, { language: 'ja' });
      await guilds.recordLocale(GUILD, 'de');
      expect(await guilds.language(GUILD)).toBe('ja');
      await guilds.changeSettings(GUILD, { language: null });
      expect(await guilds.language(GUILD)).toBe('de');
    });
  });

  describe('confirmations', () => {
    const asked = { guildId: GUILD, userId: ADA, action: 'webhook.remove' } as const;
    const detail = { webhook: 'w', addresses: [TREASURY], scope: 0 };
    const question = { ...asked, detail, askedAt: NOW };
    const press = { ...asked, notBefore: NOW };

    it.for([
      ['another person', { userId: BOB }],
      ['another guild', { guildId: OTHER_GUILD }],
      ['another action', { action: 'subscription.import' } as const],
      ['a question that is too old', { notBefore: NOW + 1 }],
      ['another id', { id: 999 }],
    ] as const)(
      'refuses a confirmation of %s and keeps the question open',
      async ([_what, changed], { store: { confirmations } }) => {
        const id = await confirmations.ask(question, 10);
        expect(await confirmations.take({ ...press, id, ...changed })).toBeNull();
        expect(await confirmations.take({ ...press, id })).toEqual(detail);
      },
    );

    it('keeps only a guild’s latest questions of one action', async ({ store: { confirmations } }) => {
      const elsewhere = await confirmations.ask({ ...question, guildId: OTHER_GUILD }, 2);
      const another = await confirmations.ask({ ...question, action: 'webhook.restore' }, 2);
      const ids: number[] = [];
      for (const webhook of ['a', 'b', 'c'])
        ids.push(await confirmations.ask({ ...question, detail: { ...detail, webhook } }, 2));
      const taken = await Promise.all(ids.map((id) => confirmations.take({ ...press, id })));
      expect(taken.map((found) => found?.webhook)).toEqual([undefined, 'b', 'c']);
      expect(await confirmations.take({ ...press, guildId: OTHER_GUILD, id: elsewhere })).toEqual(detail);
      expect(await confirmations.take({ ...press, action: 'webhook.restore', id: another })).toEqual(detail);
    });

    it('never gives the id of a question to a later one', async ({ store: { confirmations } }) => {
      const id = await confirmations.ask(question, 10);
      await confirmations.take({ ...press, id });
      expect(await confirmations.ask(question, 10)).not.toBe(id);
    });
  });

  describe('labels', () => {
    const label = (n: number, name: string) => ({ address: address(n), name, createdBy: ADA, at: NOW });

    it('lists a guild’s labels by name, whatever their case', async ({ store: { labels } }) => {
      for (const [n, name] of ['beta', 'Alpha', 'Gamma'].entries()) await labels.set(GUILD, label(n, name), 10);
      await labels.set(OTHER_GUILD, label(9, 'Elsewhere'), 10);
      expect(await labels.list(GUILD)).toEqual([label(1, 'Alpha'), label(0, 'beta'), label(2, 'Gamma')]);
      for (const [guildId, name] of [
        [OTHER_GUILD, 'Alpha'],
        [GUILD, 'Beta'],
      ] as const)
        expect(await labels.remove(guildId, label(1, name))).toBe(false);
      expect(await labels.remove(GUILD, label(1, 'Alpha'))).toBe(true);
    });

    it('refuses a taken name of letters beyond A to Z, but not in another case', async ({ store: { labels } }) => {
      await labels.set(GUILD, label(1, 'ÖL'), 10);
      const taken = { status: 'label-taken', name: 'ÖL', address: address(1) };
      expect(await labels.set(GUILD, label(2, 'ÖL'), 10)).toEqual(taken);
      expect(await labels.set(GUILD, label(2, 'öl'), 10)).toMatchObject({ status: 'set' });
    });
  });

  describe('audit log', () => {
    it('returns a guild’s audit entries in pages, latest first, and nothing of other guilds', async ({ store }) => {
      for (let n = 1; n <= 5; n++) {
        await store.audit.record({ guildId: GUILD, userId: ADA, action: `a${n}`, detail: { n }, at: NOW + n });
      }
      await store.audit.record({ guildId: OTHER_GUILD, userId: ADA, action: 'other', detail: {}, at: NOW + 9 });
      const page = async (from: number) => {
        const { total, entries } = await store.audit.page(GUILD, from, 2);
        return [total, ...entries.map(({ action }) => action)];
      };
      expect([await page(0), await page(2), await page(4), await page(6)]).toEqual([
        [5, 'a5', 'a4'],
        [5, 'a3', 'a2'],
        [5, 'a1'],
        [5],
      ]);
      const { entries } = await store.audit.page(GUILD, 0, 1);
      expect(entries).toEqual([{ guildId: GUILD, userId: ADA, action: 'a5', detail: { n: 5 }, at: NOW + 5 }]);
    });
  });
}
