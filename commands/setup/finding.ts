import type { Translate } from '../../src/languages/index.ts';

/** One thing that was looked at: `fine`, a `fault` with what to do, or a `hint` that may be as it should. */
export interface Finding {
  tone: 'fault' | 'hint' | 'fine';
  text: string;
}

export const fine = (text: string): Finding => ({ tone: 'fine', text });
export const hint = (text: string): Finding => ({ tone: 'hint', text });
export const fault = (text: string): Finding => ({ tone: 'fault', text });

/** As many as are worth reading, a line each, and how many more there are. */
export function someOf<T>(t: Translate, all: readonly T[], most: number, show: (one: T) => string): string[] {
  const more = all.length > most ? [t('setup.check.more', { count: all.length - most })] : [];
  return [...all.slice(0, most).map(show), ...more];
}
