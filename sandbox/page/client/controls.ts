/** The small parts that the panel's tabs are made of. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { PageAction } from '../protocol.ts';
import { perform } from './requests.ts';

/** Returns a click handler that performs an action. */
export const act = (action: PageAction) => (): void => void perform(action);

interface ButtonOptions {
  /** Default: secondary. */
  kind?: 'primary' | 'secondary' | 'success' | 'danger';
  disabled?: boolean;
  /** What it applies to, for screen readers, where several buttons have the same label. */
  about?: string;
}

/** Draws a button in one of Discord's kinds. */
export function button(
  label: string,
  onClick: () => void,
  { kind = 'secondary', disabled = false, about = '' }: ButtonOptions = {},
): TemplateResult {
  return html`<button type="button" class="button small ${kind}" ?disabled=${disabled} @click=${onClick}>${label}${
    about ? html`<span class="hidden">: ${about}</span>` : nothing
  }</button>`;
}

/** Draws a checkbox. */
export function check(label: string, on: boolean, onChange: (on: boolean) => void, meaning = ''): TemplateResult {
  return html`<label class="check"><input type="checkbox" .checked=${on}
    @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}>
    <span>${label}${meaning ? html`<small>${meaning}</small>` : nothing}</span></label>`;
}

/** Draws a form control below its label. */
export function labeled(label: string, id: string, control: TemplateResult): TemplateResult {
  return html`<div class="pair"><label for=${id}>${label}</label>${control}</div>`;
}
