import { html, nothing, type TemplateResult } from 'lit-html';
import type { PageAction } from '../protocol.ts';
import { perform } from './requests.ts';

export const act = (action: PageAction) => (): void => void perform(action);

interface ButtonOptions {
  kind?: 'primary' | 'secondary' | 'success' | 'danger';
  disabled?: boolean;
  /** For screen readers, where several buttons have the same label. */
  about?: string;
}

export function button(
  label: string,
  onClick: () => void,
  { kind = 'secondary', disabled = false, about = '' }: ButtonOptions = {},
): TemplateResult {
  return html`<button type="button" class="button small ${kind}" ?disabled=${disabled} @click=${onClick}>${label}${
    about ? html`<span class="hidden">: ${about}</span>` : nothing
  }</button>`;
}

export function check(label: string, on: boolean, onChange: (on: boolean) => void, meaning = ''): TemplateResult {
  return html`<label class="check"><input type="checkbox" .checked=${on}
    @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}>
    <span>${label}${meaning ? html`<small>${meaning}</small>` : nothing}</span></label>`;
}

export function labeled(label: string, id: string, control: TemplateResult): TemplateResult {
  return html`<div class="pair"><label for=${id}>${label}</label>${control}</div>`;
}
