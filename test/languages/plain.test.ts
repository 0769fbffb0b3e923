import { describe, expect, it } from 'vitest';
import { definitions, textsIn } from './files.ts';

/** Words and phrases that no native engineer would say to a user, with what to write instead. */
const REFUSED: readonly [pattern: RegExp, instead: string][] = [
  [/\b(tell|tells|telling|told|say|says|saying|said)\b/i, 'post, send, alert, notify, report or show'],
  [/\b(person|people|whoever) (who|that) runs?\b/i, 'the bot’s operator'],
  [/\b(anew|thereby|shall|all the same|so long|so many|in the meantime gets)\b/i, 'again, also, must, anyway'],
  [/(^|[.!?:;] )else\b/i, 'otherwise'],
  [/\banswers (so|with)\b|\bquestions?\b/i, 'responds, returns, request'],
  [/\b(is|are|has|have|there was) none\b|\b(has|have|knows?) no (?!longer)\w+ of (its|their) own\b/i, 'what is there'],
  [/\b(knows? no|I know)\b/i, 'there is no …'],
  [/\b(take|takes|took|taken) (\w+ ){0,5}(away|down)\b/i, 'remove, run, delete'],
  [/\bany more\b(?! \w)/i, 'no longer, anymore'],
  [/\bbears? (only )?(the|a) (name|symbol)\b|\bonly bear\b/i, 'copies the name'],
  [/\bdoes no harm\b/i, 'is safe'],
  [/\bburnt\b/i, 'burned'],
  [/\blook-ups?\b/i, 'lookup'],
  [/\bnoted\b/i, 'recorded'],
  [/\bgets? too many\b/i, 'is rate-limiting requests'],
  [/\b(no|more) room\b/i, 'does not fit; a higher limit'],
  [/\b(called|named) (that|so)\b/i, 'has that name'],
  [/\b(in peace|thaw|bury|unbury)\b/i, 'the field’s term'],
  [/\bof which\b|\bwhich is well\b/i, 'a sentence of its own'],
  [/(?<![<#=&.])\bids?\b/, 'ID'],
  [/'/, '’'],
];

/** What is wrong with a text, in one line each. */
function faultsOf(text: string): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, '`code`').replaceAll(/\{\{[^}]*\}\}/g, '{{value}}');
  return REFUSED.flatMap(([pattern, instead]) => {
    const found = pattern.exec(prose)?.[0];
    return found === undefined ? [] : [`“${found.trim()}” (write: ${instead}) in: ${text}`];
  });
}

describe('English texts', () => {
  it('finds no refused wording in an English message', () => {
    expect([...textsIn('en-US').values()].flatMap(faultsOf)).toEqual([]);
  });

  it('finds no refused wording in an English command, option or choice', () => {
    const written = definitions().flatMap(({ name, kind, description }) => [
      ...(kind === 'choice' ? [name] : []),
      ...(description === null ? [] : [description]),
    ]);
    expect(written.flatMap(faultsOf)).toEqual([]);
  });

  it.each([
    'Tell nothing until it is resumed',
    'Hours in which nothing is told until they end, like 22:00-07:00, or "off"',
    'If it stays, tell the person who runs this bot that id.',
    'The person who runs this bot can turn it on by setting {{variables}}.',
    'The notification service gets too many questions right now.',
    'It may have been done all the same; doing it again does no harm.',
    'These tokens only bear the name of a known one.',
    'It was called that already.',
    'To begin anew, use `/subscription add`.',
    'I know no column {{column}}.',
    'This server has no project of its own any more.',
    'There is none at the moment; it is noted as `{{id}}`.',
    '-# {{count, number}} more address has no room in this menu.',
    'Take the name of an address away',
    'the zero address (burnt)',
    'You have made many look-ups.',
  ])('refuses the old wording “%s”', (old) => {
    expect(faultsOf(old)).not.toEqual([]);
  });

  it('accepts “id” in code and in a mention’s form', () => {
    expect(faultsOf('Write it as `<#id>` or `id`.')).toEqual([]);
  });
});
