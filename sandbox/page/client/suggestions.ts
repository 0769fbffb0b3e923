/** The list above the composer: what can be picked, and which item Enter and Tab take. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { draw } from './screen.ts';

const AUTOCOMPLETE_MS = 150;

/** Something to pick. */
export interface Item {
  label: string;
  detail: string;
  pick: () => void;
}

let items: Item[] = [];
/** Index of the item that Enter takes, or -1. */
let active = -1;
/** Grows with every change of the list, so that a late response to an earlier request is dropped. */
let edition = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Draws the list, if there is one. */
export function listView(): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing;
  return html`<div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
    ${items.map(
      (
        { label, detail, pick },
        index,
      ) => html`<div role="option" id="suggestion-${index}" aria-selected=${index === active}
        class=${index === active ? 'active' : ''}
        @mousedown=${(event: Event) => event.preventDefault()} @click=${pick}>
        <span>${label}</span><small>${detail}</small>
      </div>`,
    )}
  </div>`;
}

/** The ARIA attributes of the field that the list belongs to. */
export const listAttributes = () => ({
  expanded: items.length > 0,
  controls: items.length > 0 ? 'suggestions' : nothing,
  active: active >= 0 && items.length > 0 ? `suggestion-${active}` : nothing,
});

/** Whether suggestions are shown. */
export const isListed = (): boolean => items.length > 0;

/** The suggestion that Enter takes. */
export const activeItem = (): Item | undefined => items[active];

/** Replaces the list. `takesFirst`: Enter and Tab take the first item, as in Discord. */
export function showList(found: Item[], takesFirst: boolean): void {
  clearList();
  items = found;
  active = takesFirst && items.length > 0 ? 0 : -1;
}

/** Requests suggestions after a moment; `ask` returns what shows them, which runs unless the list has changed since. */
export function showSoon(ask: () => Promise<() => void>): void {
  clearList();
  const own = edition;

  async function run(): Promise<void> {
    const show = await ask();
    if (own !== edition) return;
    show();
    draw();
  }

  timer = setTimeout(() => void run(), AUTOCOMPLETE_MS);
}

/** Moves to the next or previous item. */
export function moveInList(step: 1 | -1): void {
  active = step === 1 ? (active + 1) % items.length : (active <= 0 ? items.length : active) - 1;
  draw(() => document.getElementById(`suggestion-${active}`)?.scrollIntoView({ block: 'nearest' }));
}

/** Empties the list and drops pending questions. */
export function clearList(): void {
  edition++;
  clearTimeout(timer);
  items = [];
  active = -1;
}

/** Empties the list and draws. */
export function closeList(): void {
  const wasListed = isListed();
  clearList();
  if (wasListed) draw();
}
