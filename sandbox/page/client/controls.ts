/** The small things that the world's tabs are made of. */
import { html, type TemplateResult } from 'lit-html';
import type { Act } from '../protocol.ts';
import { perform } from './screen.ts';

/** What a button does that wishes something of the world. */
export const act = (wish: Act) => (): void => void perform(wish);

/** `kind` is one of Discord's: primary, secondary, success, danger. */
export function button(label: string, onClick: () => void, kind = 'secondary', disabled = false): TemplateResult {
  return html`<button type="button" class="button small ${kind}" ?disabled=${disabled} @click=${onClick}>${label}</button>`;
}

/** A box to tick. */
export function check(label: string, on: boolean, onChange: (on: boolean) => void): TemplateResult {
  return html`<label class="check"><input type="checkbox" .checked=${on}
    @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}> ${label}</label>`;
}
