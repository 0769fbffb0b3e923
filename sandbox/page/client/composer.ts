/** The line at the bottom of a channel: plain messages, and slash commands with their options. */
import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { FileInput, GuildState, OptionInput } from '../../discord/control.ts';
import { type Command, type CommandOption, channelOf, commandsFor, guildOf } from './model.ts';
import { type Field, findTyped, offers, optionValue, readOptions } from './options.ts';
import { attempt, change, currentChannelId, draw, drawAtOnce, follow, interact, ui } from './screen.ts';

const AUTOCOMPLETE_MS = 150;
const SHOWN_MAX = 25;

/** Something in the list above the line. */
interface Item {
  label: string;
  detail: string;
  pick: () => void;
}

let text = '';
let command: Command | undefined;
let fields: Field[] = [];
let items: Item[] = [];
let active = -1;
let error = '';
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The whole line with its list. */
export function composerView(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html`<div class="composer"></div>`;
  const list = html`<div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
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
  return html`<form class="composer" @submit=${onSubmit} @keydown=${onKey}>
    ${items.length > 0 ? list : nothing}
    ${error ? html`<p class="error" role="alert">${error}</p>` : nothing}
    <div class="line">
      ${command ? commandLine(command, guild) : textLine(channel.name)}
      <button class="send" type="submit" aria-label="Send">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M3 20V4l19 8Zm2-3 11.800-5L5 7v3.500l6 1.500-6 1.500Z"/></svg>
      </button>
    </div>
  </form>`;
}

const listAttributes = () => ({
  expanded: items.length > 0,
  controls: items.length > 0 ? 'suggestions' : nothing,
  active: active >= 0 && items.length > 0 ? `suggestion-${active}` : nothing,
});

function textLine(channel: string): TemplateResult {
  const { expanded, controls, active: descendant } = listAttributes();
  return html`<input id="composer" class="text" type="text" autocomplete="off" maxlength="4000" role="combobox"
    aria-label="Message #${channel}. Type / for commands" aria-autocomplete="list" aria-expanded=${expanded}
    aria-controls=${controls} aria-activedescendant=${descendant}
    placeholder="Message #${channel} – type / for commands" .value=${live(text)}
    @input=${(event: InputEvent) => onText((event.target as HTMLInputElement).value)}
    @blur=${closeList}>`;
}

function commandLine(chosen: Command, guild: GuildState): TemplateResult {
  const missing = chosen.options.filter(({ name }) => !fields.some(({ option }) => option.name === name));
  return html`<div class="command" role="group" aria-label="Command /${chosen.label}">
    <span class="path">/${chosen.label}</span>
    ${repeat(
      fields,
      ({ option }) => option.name,
      (field) => fieldView(field, guild),
    )}
    ${missing.map(
      (option) =>
        html`<button type="button" class="add" title=${option.description} @click=${() => addField(option)}>+ ${option.label}</button>`,
    )}
    <button type="button" class="leave" aria-label="Leave the command" @click=${leave}>✕</button>
  </div>`;
}

function fieldView(field: Field, guild: GuildState): TemplateResult {
  const { option } = field;
  const { expanded, controls, active: descendant } = listAttributes();
  const id = `option-${option.name}`;
  const input =
    option.type === Option.Attachment
      ? html`<input id=${id} type="file" aria-description=${option.description} @change=${(event: Event) => void onFile(field, event)}>`
      : html`<input id=${id} type="text" autocomplete="off" spellcheck="false" role="combobox" aria-autocomplete="list"
          aria-description=${option.description} aria-expanded=${expanded} aria-controls=${controls}
          aria-activedescendant=${descendant} size=${Math.min(44, Math.max(6, field.text.length + 1))}
          .value=${live(field.text)} title=${option.description}
          @focus=${() => suggest(field, guild)}
          @blur=${closeList}
          @paste=${(event: ClipboardEvent) => onPaste(field, guild, event)}
          @input=${(event: InputEvent) => onField(field, guild, (event.target as HTMLInputElement).value)}>`;
  return html`<label class="option" for=${id}><span>${option.label}</span>${input}</label>`;
}

function onText(value: string): void {
  text = value;
  error = '';
  items = [];
  active = -1;
  const guild = guildOf(ui.guildId);
  if (guild && value.startsWith('/')) {
    const commands = commandsFor(guild, ui.userId);
    const typed = findTyped(commands, value.slice(1));
    if (typed) {
      choose(typed.command, typed.rest);
      return;
    }
    const wanted = value.slice(1).toLowerCase().trimStart();
    const starts = ({ path, label }: Command): boolean => [path, label].some((name) => name.startsWith(wanted));
    const fitting = commands.filter(({ path, label }) => path.includes(wanted) || label.includes(wanted));
    items = fitting
      .sort((a, b) => Number(starts(b)) - Number(starts(a)))
      .slice(0, SHOWN_MAX)
      .map((one) => ({ label: `/${one.label}`, detail: one.description, pick: () => choose(one, '') }));
    active = items.length > 0 ? 0 : -1;
  }
  draw();
}

/** Puts a command on the line; `rest` is what was typed after it: `address:0x… label:Treasury`. */
function choose(chosen: Command, rest: string): void {
  command = chosen;
  text = '';
  items = [];
  const written = readOptions(chosen, rest);
  fields = chosen.options
    .filter((option) => option.required || written.has(option.name))
    .map((option) => ({ option, text: written.get(option.name) ?? '', picked: undefined }));
  focusNext();
}

function addField(option: CommandOption): void {
  fields = [...fields, { option, text: '', picked: undefined }];
  drawAtOnce(() => document.getElementById(`option-${option.name}`)?.focus());
}

/** Goes to the first empty option, or to the send button. */
function focusNext(): void {
  const empty = fields.find((field) => field.text === '' && !field.picked) ?? fields.at(-1);
  const id = empty ? `option-${empty.option.name}` : undefined;
  drawAtOnce(() => {
    if (id) document.getElementById(id)?.focus();
    else document.querySelector<HTMLElement>('.composer .send')?.focus();
  });
}

function leave(): void {
  command = undefined;
  fields = [];
  text = '';
  error = '';
  closeList();
  drawAtOnce(() => document.getElementById('composer')?.focus());
}

function closeList(): void {
  asked += 1;
  clearTimeout(timer);
  if (items.length === 0) return;
  items = [];
  active = -1;
  draw();
}

function onField(field: Field, guild: GuildState, value: string): void {
  field.text = value;
  if (field.picked?.text !== value) field.picked = undefined;
  error = '';
  suggest(field, guild);
  draw();
}

/** A single line drops line breaks without a trace; lists of addresses need something between them. */
function onPaste(field: Field, guild: GuildState, event: ClipboardEvent): void {
  const pasted = event.clipboardData?.getData('text') ?? '';
  if (!pasted.includes('\n')) return;
  event.preventDefault();
  const input = event.target as HTMLInputElement;
  input.setRangeText(
    pasted.replaceAll(/\s*\n\s*/g, ' ').trim(),
    input.selectionStart ?? 0,
    input.selectionEnd ?? 0,
    'end',
  );
  onField(field, guild, input.value);
}

/** Fills the list for the option at hand. */
function suggest(field: Field, guild: GuildState): void {
  const { option } = field;
  asked += 1;
  clearTimeout(timer);
  if ('autocomplete' in option && option.autocomplete) {
    items = [];
    timer = setTimeout(() => void complete(field, asked), AUTOCOMPLETE_MS);
    draw();
    return;
  }
  const wanted = field.text.toLowerCase();
  const fits = field.picked ? () => true : (label: string) => label.toLowerCase().includes(wanted);
  const offered = offers(option, guild).filter(([label]) => fits(label));
  items = offered.slice(0, SHOWN_MAX).map(([label, value, detail]) => ({
    label,
    detail,
    pick: () => pick(field, label, value),
  }));
  // Enter takes the first fitting choice, but sends what is complete already.
  const exact = offered.some(([label]) => label.toLowerCase() === wanted);
  active = items.length > 0 && field.text !== '' && !exact ? 0 : -1;
  draw();
}

/** Asks the bot, as Discord does while one types. */
async function complete(field: Field, ask: number): Promise<void> {
  const guild = guildOf(ui.guildId);
  if (!command || !guild) return;
  const others = Object.fromEntries(
    fields.flatMap((one) => {
      const value = one === field ? undefined : optionValue(one, guild);
      return value === undefined || value instanceof Error ? [] : [[one.option.name, value] as const];
    }),
  );
  const name = field.option.name;
  const request = {
    kind: 'autocomplete' as const,
    userId: ui.userId,
    channelId: currentChannelId(),
    name: command.path,
    options: { ...others, [name]: field.picked ? '' : field.text },
    focused: name,
  };
  const state = await interact(request).catch(() => undefined);
  if (ask !== asked) return;
  items = (state?.choices ?? []).map((choice) => ({
    label: choice.name,
    detail: '',
    pick: () => pick(field, choice.name, choice.value),
  }));
  if (state?.failure) error = state.failure;
  active = -1;
  draw();
}

function pick(field: Field, label: string, value: OptionInput): void {
  field.text = label;
  field.picked = { text: label, value };
  items = [];
  active = -1;
  const another = fields.some((one) => one.text === '' && !one.picked);
  if (another) focusNext();
  else draw();
}

async function onFile(field: Field, event: Event): Promise<void> {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const value: FileInput = { filename: file.name, base64: btoa(binary), ...(file.type && { contentType: file.type }) };
  field.text = file.name;
  field.picked = { text: file.name, value };
  draw();
}

function onKey(event: KeyboardEvent): void {
  if (event.isComposing) return;
  const { key } = event;
  if ((key === 'ArrowDown' || key === 'ArrowUp') && items.length > 0) {
    active = key === 'ArrowDown' ? (active + 1) % items.length : (active <= 0 ? items.length : active) - 1;
    draw(() => document.getElementById(`suggestion-${active}`)?.scrollIntoView({ block: 'nearest' }));
  } else if ((key === 'Enter' || (key === 'Tab' && !event.shiftKey)) && items[active]) {
    items[active]!.pick();
  } else if (key === 'Escape' && items.length > 0) {
    closeList();
  } else if (key === 'Escape' && command) {
    leave();
  } else if (key === 'Backspace' && command && (event.target as HTMLInputElement).value === '') {
    dropField(event.target as HTMLInputElement);
  } else return;
  event.preventDefault();
}

/** Backspace in an empty option: an optional one goes, the first one takes the command with it. */
function dropField(input: HTMLInputElement): void {
  const at = fields.findIndex(({ option }) => input.id === `option-${option.name}`);
  if (at > 0 && !fields[at]!.option.required) {
    fields = fields.toSpliced(at, 1);
    const previous = fields[at - 1]!;
    drawAtOnce(() => document.getElementById(`option-${previous.option.name}`)?.focus());
  } else if (at === 0) {
    const typed = `/${command!.label}`;
    leave();
    onText(typed);
  }
}

function onSubmit(event: SubmitEvent): void {
  event.preventDefault();
  void (command ? sendCommand(command) : sendText());
}

async function sendText(): Promise<void> {
  const content = text.trim();
  if (content === '') return;
  if (content.startsWith('/')) {
    const guild = guildOf(ui.guildId);
    const typed = guild && findTyped(commandsFor(guild, ui.userId), `${content.slice(1)} `);
    if (typed) {
      choose(typed.command, typed.rest);
      if (typed.command.options.every(({ required }) => !required)) await sendCommand(typed.command);
      return;
    }
    error = `There is no command ${content.split(' ')[0]} for you here.`;
    return draw();
  }
  text = '';
  ui.following = true;
  await change({ do: 'message.send', channelId: currentChannelId(), userId: ui.userId, content }, '');
  draw();
}

async function sendCommand(chosen: Command): Promise<void> {
  const guild = guildOf(ui.guildId);
  if (!guild) return;
  const options: Record<string, OptionInput> = {};
  for (const field of fields) {
    const value = optionValue(field, guild);
    const fault =
      value instanceof Error
        ? value.message
        : value === undefined && field.option.required
          ? `${field.option.label} is needed: ${field.option.description}.`
          : '';
    if (fault) {
      error = fault;
      return drawAtOnce(() => document.getElementById(`option-${field.option.name}`)?.focus());
    }
    if (value !== undefined && !(value instanceof Error)) options[field.option.name] = value;
  }
  ui.following = true;
  const who = { userId: ui.userId, channelId: currentChannelId() };
  leave();
  await attempt(async () => follow(await interact({ kind: 'command', ...who, name: chosen.path, options })));
  draw();
}
