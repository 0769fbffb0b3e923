/** The form that the bot opens in response to a command or button. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { guildOf } from './model.ts';
import { currentChannelId, draw, follow, interact, ui } from './screen.ts';
import type { BellSelect } from './select.ts';
import { markdown } from './text.ts';

interface Field {
  type: number;
  custom_id: string;
  style?: number;
  label?: string;
  placeholder?: string;
  value?: string;
  required?: boolean;
  min_length?: number;
  max_length?: number;
}

interface Part extends Partial<Field> {
  description?: string;
  content?: string;
  component?: Field;
  components?: Field[];
}

const TEXT_INPUT = 4;
const TEXT_DISPLAY = 10;
const PARAGRAPH = 2;

/** Draws the open form, if there is one. */
export function formView(): TemplateResult | typeof nothing {
  const { form } = ui;
  if (!form?.modal) return nothing;
  const parts = form.modal.components as unknown as Part[];
  return html`<dialog class="form" aria-labelledby="form-title" @close=${close} @cancel=${close}>
    <form method="dialog" @submit=${(event: SubmitEvent) => void submit(event)}>
      <h2 id="form-title">${form.modal.title}</h2>
      ${parts.map(partView)}
      ${ui.formError ? html`<p class="error" role="alert">${ui.formError}</p>` : nothing}
      <footer>
        <button type="button" class="button secondary" @click=${close}>Cancel</button>
        <button type="submit" class="button primary">Submit</button>
      </footer>
    </form>
  </dialog>`;
}

/** Opens the drawn dialog. Only the browser's own call makes it modal. */
export function openForm(): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.form');
  if (dialog && !dialog.open) dialog.showModal();
}

function partView(part: Part): TemplateResult {
  if (part.type === TEXT_DISPLAY) return html`${markdown(part.content ?? '', guildOf(ui.guildId))}`;
  if (part.components) return html`${part.components.map((field) => fieldView(field, field.label ?? '', undefined))}`;
  if (part.component) return fieldView(part.component, part.label ?? '', part.description);
  return html`${nothing}`;
}

function fieldView(field: Field, label: string, description: string | undefined): TemplateResult {
  const id = `field-${field.custom_id}`;
  const required = field.required ?? true;
  const secret = /secret|key|token|password/i.test(field.custom_id);
  const shared = { label, description, id, required };
  if (field.type !== TEXT_INPUT)
    return labeled(
      shared,
      html`<bell-select data-field=${field.custom_id} .owner=${{ menu: field, state: null, guild: guildOf(ui.guildId) }}></bell-select>`,
    );
  const most = field.max_length ?? 4000;
  if (field.style === PARAGRAPH)
    return labeled(
      shared,
      html`<textarea id=${id} name=${field.custom_id} rows="4" maxlength=${most} minlength=${field.min_length ?? 0}
        placeholder=${field.placeholder ?? ''} ?required=${required} .defaultValue=${field.value ?? ''}></textarea>`,
    );
  return labeled(
    shared,
    html`<input id=${id} name=${field.custom_id} type="text" autocomplete="off" spellcheck=${secret ? 'false' : 'true'}
      maxlength=${most} minlength=${field.min_length ?? 0} placeholder=${field.placeholder ?? ''} ?required=${required}
      .defaultValue=${field.value ?? ''}>`,
  );
}

function labeled(
  {
    label,
    description,
    id,
    required,
  }: { label: string; description: string | undefined; id: string; required: boolean },
  input: TemplateResult,
): TemplateResult {
  return html`<div class="form-field">
    <label for=${id}>${label}${required ? html`<span class="required" aria-hidden="true"> *</span>` : nothing}</label>
    ${description ? html`<small>${description}</small>` : nothing}
    ${input}
  </div>`;
}

function close(): void {
  if (!ui.form) return;
  ui.form = null;
  draw();
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
    const who = { userId: ui.userId, channelId: currentChannelId() };
    const state = await interact({ kind: 'modal', ...who, interactionId: opened.id, values });
    close();
    follow(state);
  } catch (error) {
    ui.formError = (error as Error).message;
    draw();
  }
}
