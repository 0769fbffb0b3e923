import { expect, it } from 'vitest';
import { createGuildQueue } from '../../commands/shared/guild-queue.ts';

it('makes a server that asks repeatedly wait for itself, and no other server for it', async () => {
  const begun: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<string>>();
  const queue = createGuildQueue();
  const ask = (guildId: string, name: string) =>
    queue.run(guildId, 'read', () => {
      begun.push(name);
      const gate = Promise.withResolvers<string>();
      gates.set(name, gate);
      return gate.promise;
    });
  const [first, second, third] = [ask('1', 'a'), ask('1', 'b'), ask('1', 'c')];
  const other = ask('2', 'd');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'd']);
  gates.get('d')!.resolve('D');
  expect(await other).toBe('D');
  // One that fails gives its turn up as well.
  gates.get('a')!.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  expect(begun).toEqual(['a', 'd', 'b']);
  gates.get('b')!.resolve('B');
  expect(await second).toBe('B');
  gates.get('c')!.resolve('C');
  expect(await third).toBe('C');
});
