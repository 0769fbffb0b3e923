import { describe, expect } from 'vitest';
import { ADA, change, GUILD, NOW, OTHER_GUILD } from './given.ts';
import type { StoreTest } from './index.ts';

export function auditContract(it: StoreTest): void {
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

    it('deletes the audit entries from before a time, of every guild', async ({ store }) => {
      for (const guildId of [GUILD, OTHER_GUILD]) for (const at of [NOW - 1, NOW]) await change(store, guildId, at);
      expect(await store.audit.prune(NOW)).toBe(2);
      expect(await store.audit.prune(NOW)).toBe(0);
      expect(await store.audit.page(GUILD, 0, 9)).toMatchObject({ total: 1, entries: [{ at: NOW }] });
    });
  });
}
