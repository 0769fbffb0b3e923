import { html, nothing, type TemplateResult } from 'lit-html';
import { draw } from './screen.ts';

const AUTOCOMPLETE_MS = 150;

export interface Item {
  label: string;
  detail: string;
  pick: () => void;
}

let items: Item[] = [];
/** The item that Enter and Tab take, or -1. */
let active = -1;
/** A late response to an earlier request is dropped. */
let edition = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

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

export const listAttributes = () => ({
  expanded: items.length > 0,
  controls: items.length > 0 ? 'suggestions' : nothing,
  active: active >= 0 && items.length > 0 ? `suggestion-${active}` : nothing,
});

export const isListed = (): boolean => items.length > 0;

export const activeItem = (): Item | undefined => items[active];

/** `takesFirst`: Enter and Tab take the first item, as in Discord. */
export function showList(found: Item[], takesFirst: boolean): void {
  clearList();
  items = found;
  active = takesFirst && items.length > 0 ? 0 : -1;
}

/** `ask` returns what shows the suggestions. It runs unless the list has changed since. */
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

export function moveInList(step: 1 | -1): void {
  active = step === 1 ? (active + 1) % items.length : (active <= 0 ? items.length : active) - 1;
  draw(() => document.getElementById(`suggestion-${active}`)?.scrollIntoView({ block: 'nearest' }));
}

export function clearList(): void {
  edition++;
  clearTimeout(timer);
  items = [];
  active = -1;
}

export function closeList(): void {
  const wasListed = isListed();
  clearList();
  if (wasListed) draw();
}
