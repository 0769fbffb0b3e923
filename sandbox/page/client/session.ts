/** Keeps the choices of the person at the screen over a reload of the page. */

const KEY = 'ledgerbell-page';

interface Part {
  save: () => unknown;
  restore: (kept: never) => void;
}

const parts = new Map<string, Part>();
let last: string | undefined;

/** `save` returns the part's state as JSON. */
export function keep<State>(name: string, save: () => State, restore: (kept: State) => void): void {
  parts.set(name, { save, restore });
}

export function saveSession(): void {
  const text = JSON.stringify(Object.fromEntries([...parts].map(([name, { save }]) => [name, save()])));
  if (text === last) return;
  last = text;
  sessionStorage.setItem(KEY, text);
}

export function restoreSession(): void {
  if (last !== undefined) return;
  last = sessionStorage.getItem(KEY) ?? '{}';
  try {
    const kept = JSON.parse(last) as Record<string, never>;
    for (const [name, { restore }] of parts) if (name in kept) restore(kept[name]!);
  } catch {
    // Written by another version of the page.
    sessionStorage.removeItem(KEY);
  }
}
