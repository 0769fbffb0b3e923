/** Keeps the choices of the person at the screen over a reload of the page. */

const KEY = 'ledgerbell-page';

/** The tabs of the world's panel. */
export type Tab = 'events' | 'send' | 'watch' | 'break';

/** The choices that a reload keeps. */
interface Choices {
  guildId: string;
  userId: string;
  tab: Tab;
  worldOpen: boolean;
  channels: Map<string, string>;
  read: Map<string, string>;
  dismissed: Set<string>;
}

/** The choices in JSON, and the state of each part of the page. */
interface Kept extends Pick<Choices, 'guildId' | 'userId' | 'tab' | 'worldOpen'> {
  channels: [guildId: string, channelId: string][];
  read: [channelId: string, messageId: string][];
  dismissed: string[];
  parts: Record<string, unknown>;
}

interface Part {
  save: () => unknown;
  restore: (kept: never) => void;
}

const parts = new Map<string, Part>();
let waiting: Record<string, unknown> = {};
let last = '';

/** Lets a part of the page keep its own state: `save` returns it as JSON, `restore` gets it after a reload. */
export function keep<State>(name: string, save: () => State, restore: (kept: State) => void): void {
  parts.set(name, { save, restore });
}

/** Writes what changed; called after each drawing. */
export function saveSession(ui: Choices): void {
  const kept: Kept = {
    guildId: ui.guildId,
    userId: ui.userId,
    tab: ui.tab,
    worldOpen: ui.worldOpen,
    channels: [...ui.channels],
    read: [...ui.read],
    dismissed: [...ui.dismissed],
    parts: Object.fromEntries([...parts].map(([name, { save }]) => [name, save()])),
  };
  const text = JSON.stringify(kept);
  if (text === last) return;
  last = text;
  sessionStorage.setItem(KEY, text);
}

/** Reads what the page kept before it was reloaded into its choices. */
export function restoreSession(ui: Choices): void {
  const text = sessionStorage.getItem(KEY);
  if (text === null) return;
  try {
    const kept = JSON.parse(text) as Kept;
    ui.guildId = kept.guildId;
    ui.userId = kept.userId;
    ui.tab = kept.tab;
    ui.worldOpen = kept.worldOpen;
    ui.channels = new Map(kept.channels);
    ui.read = new Map(kept.read);
    ui.dismissed = new Set(kept.dismissed);
    waiting = kept.parts;
  } catch {
    // Written by another version of the page.
    sessionStorage.removeItem(KEY);
  }
}

/** Restores the parts' state; called once the server's state has arrived. */
export function restoreParts(): void {
  const kept = waiting;
  waiting = {};
  for (const [name, { restore }] of parts) if (name in kept) restore(kept[name] as never);
}
