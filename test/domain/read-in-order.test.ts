import { expect, it } from 'vitest';
import { readInOrder } from '../../src/domain/read-in-order.ts';

/** Reads that end when the test lets them, and what was applied of them. */
function open() {
  const reads: PromiseWithResolvers<string>[] = [];
  const applied: string[] = [];
  const read = readInOrder(
    () => {
      reads.push(Promise.withResolvers());
      return reads.at(-1)!.promise;
    },
    (result) => void applied.push(result),
  );
  return { reads, applied, read };
}

it('applies nothing of a read that was overtaken by a later one', async () => {
  const { reads, applied, read } = open();
  const [slow, fast] = [read(), read()];
  reads[1]!.resolve('new');
  await fast;
  reads[0]!.resolve('old');
  await slow;
  expect(applied).toEqual(['new']);
});

it('has applied a read when it resolves, also while a later one is under way', async () => {
  const { reads, applied, read } = open();
  const [first] = [read(), read()];
  reads[0]!.resolve('first');
  await first;
  expect(applied).toEqual(['first']);
});

it('applies a read although a later one failed', async () => {
  const { reads, applied, read } = open();
  const [first, second] = [read(), read()];
  reads[1]!.reject(new Error('The database cannot be reached.'));
  await expect(second).rejects.toThrow('cannot be reached');
  reads[0]!.resolve('first');
  await first;
  expect(applied).toEqual(['first']);
});
