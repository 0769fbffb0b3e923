import {
  type APIComponentInLabel,
  type APIModalInteractionResponseCallbackComponent,
  type APITextInputComponent,
  ComponentType,
  TextInputStyle,
} from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { BellSelect, Owner } from './components.ts';
import { guildOf } from './model.ts';
import { follow, interact } from './requests.ts';
import { draw, drawAtOnce, ui } from './screen.ts';
import { markdown } from './text.ts';

/** Discord's limit for inputs that set none. */
const MAX_INPUT = 4_000;

export function formView(): TemplateResult | typeof nothing {
  const { form } = ui;
  if (!form?.modal) return nothing;
  return html`<dialog class="form" aria-labelledby="form-title" @close=${close} @cancel=${close}>
    <form method="dialog" @submit=${(event: SubmitEvent) => void submit(event)}>
      <h2 id="form-title">${form.modal.title}</h2>
      ${form.modal.components.map(partView)}
      ${ui.formError ? html`<p class="error" role="alert">${ui.formError}</p>` : nothing}
      <footer>
        <button type="button" class="button secondary" @click=${close}>Cancel</button>
        <button type="submit" class="button primary">Submit</button>
      </footer>
    </form>
  </dialog>`;
}

let opener: HTMLElement | null = null;

/** Only the browser's own call makes the dialog modal. */
export function openForm(): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.form');
  if (!dialog || dialog.open) return;
  opener = document.activeElement as HTMLElement | null;
  dialog.showModal();
}

function partView(part: APIModalInteractionResponseCallbackComponent): TemplateResult | typeof nothing {
  switch (part.type) {
    case ComponentType.TextDisplay:
      return markdown(part.content, guildOf(ui.guildId));
    case ComponentType.ActionRow:
      return html`${part.components.map((input) => fieldView(input, input.label ?? '', undefined))}`;
    case ComponentType.Label:
      return fieldView(part.component, part.label, part.description);
  }
}

function fieldView(
  field: APIComponentInLabel,
  label: string,
  description: string | undefined,
): TemplateResult | typeof nothing {
  const id = `field-${field.custom_id}`;
  const input = inputOf(field, id);
  if (input === nothing) return nothing;
  const isRequired = !('required' in field) || field.required !== false;
  return html`<div class="form-field">
    <label for=${id}>${label}${isRequired ? html`<span class="required" aria-hidden="true"> *</span>` : nothing}</label>
    ${description ? html`<small>${description}</small>` : nothing}
    ${input}
  </div>`;
}

function inputOf(field: APIComponentInLabel, id: string): TemplateResult | typeof nothing {
  switch (field.type) {
    case ComponentType.TextInput:
      return inputView(field, id);
    case ComponentType.StringSelect:
    case ComponentType.UserSelect:
    case ComponentType.RoleSelect:
    case ComponentType.MentionableSelect:
    case ComponentType.ChannelSelect: {
      const owner: Owner = { menu: field, state: null, guild: guildOf(ui.guildId) };
      return html`<bell-select data-field=${field.custom_id} .owner=${owner}></bell-select>`;
    }
    default:
      // The page does not draw files, radio buttons and checkboxes yet.
      return nothing;
  }
}

function inputView(field: APITextInputComponent, id: string): TemplateResult {
  const { custom_id: name, placeholder = '', value = '', required = true } = field;
  const { min_length: min = 0, max_length: max = MAX_INPUT } = field;
  if (field.style === TextInputStyle.Paragraph)
    return html`<textarea id=${id} name=${name} rows="4" maxlength=${max} minlength=${min}
      placeholder=${placeholder} ?required=${required} .defaultValue=${value}></textarea>`;
  const isSecret = /secret|key|token|password/i.test(name);
  return html`<input id=${id} name=${name} type="text" autocomplete="off" spellcheck=${isSecret ? 'false' : 'true'}
    maxlength=${max} minlength=${min} placeholder=${placeholder} ?required=${required} .defaultValue=${value}>`;
}

/** If the browser closed it, Chromium would restore the focus but ignore what is typed next. */
function close(event?: Event): void {
  event?.preventDefault();
  if (!ui.form) return;
  ui.form = null;
  drawAtOnce(() => (opener?.isConnected ? opener : document.getElementById('composer'))?.focus());
}

async function submit(event: SubmitEvent): Promise<void> {
  event.preventDefault();
  const opened = ui.form;
  const element = event.target as HTMLFormElement;
  if (!opened) return;
  const values: Record<string, string | string[]> = {};
  for (const [name, value] of new FormData(element)) if (typeof value === 'string') values[name] = value;
  for (const menu of element.querySelectorAll<BellSelect>('bell-select'))
    values[menu.dataset.field ?? ''] = menu.values;
  try {
    const state = await interact({ kind: 'modal', interactionId: opened.id, values });
    close();
    follow(state);
  } catch (error) {
    ui.formError = (error as Error).message;
    draw();
  }
}
