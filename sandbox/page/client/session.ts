/** Keeps the choices of the person at the screen over a reload of the page. */

const KEY = 'ledgerbell-page';

interface Part {
  save: () => unknown;
  restore: (kept: never) => void;
}

const parts = new Map<string, Part>();
let last: string | undefined;

/** Lets a part of the page keep its own state: `save` returns it as JSON, `restore` gets it after a reload. */
export function keep<State>(name: string, save: () => State, restore: (kept: State) => void): void {
  parts.set(name, { save, restore });
}

/** Writes what changed; called after each drawing. */
export function saveSession(): void {
  const text = JSON.stringify(Object.fromEntries([...parts].map(([name, { save }]) => [name, save()])));
  if (text === last) return;
  last = text;
  sessionStorage.setItem(KEY, text);
}

/** Restores what the page kept before it was reloaded. */
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
