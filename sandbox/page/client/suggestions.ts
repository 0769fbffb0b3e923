/** The list above the line at the bottom of a channel: what may be picked, and which of it Enter takes. */
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
/** Which one Enter takes; -1: none. */
let active = -1;
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The list, if there is one. */
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

/** What the input field says of the list to those who cannot see it. */
export const listAttributes = () => ({
  expanded: items.length > 0,
  controls: items.length > 0 ? 'suggestions' : nothing,
  active: active >= 0 && items.length > 0 ? `suggestion-${active}` : nothing,
});

export const isListed = (): boolean => items.length > 0;

export const activeItem = (): Item | undefined => items[active];

/** Shows these instead of what was shown; `takesFirst`: Enter takes the first one. */
export function showList(found: Item[], takesFirst: boolean): void {
  clearList();
  items = found;
  active = takesFirst && items.length > 0 ? 0 : -1;
}

/** Asks after a moment, and shows what came of it, unless something else is shown before. */
export function showSoon<Answer>(ask: () => Promise<Answer>, read: (answer: Answer) => Item[]): void {
  clearList();
  const own = asked;
  const run = async (): Promise<void> => {
    const answer = await ask();
    if (own !== asked) return;
    showList(read(answer), false);
    draw();
  };
  timer = setTimeout(() => void run(), AUTOCOMPLETE_MS);
}

/** Goes to the next one, or to the one before. */
export function moveInList(step: 1 | -1): void {
  active = step === 1 ? (active + 1) % items.length : (active <= 0 ? items.length : active) - 1;
  draw(() => document.getElementById(`suggestion-${active}`)?.scrollIntoView({ block: 'nearest' }));
}

/** Nothing is shown any more, nor what was asked for. */
export function clearList(): void {
  asked += 1;
  clearTimeout(timer);
  items = [];
  active = -1;
}

/** The same, drawn at once. */
export function closeList(): void {
  const wasListed = isListed();
  clearList();
  if (wasListed) draw();
}
