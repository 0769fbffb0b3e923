/** The composer at the bottom of a channel: plain messages, and slash commands with their options. */
import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { GuildState, InteractionState, OptionInput } from '../../discord/control.ts';
import { type Command, type CommandOption, channelOf, commandsFor, guildOf } from './model.ts';
import {
  commandsLike,
  type Field,
  findTyped,
  offers,
  readFile,
  readOptions,
  readValues,
  valuesSoFar,
} from './options.ts';
import { change, currentChannelId, draw, drawAtOnce, follow, interact, notify, ui } from './screen.ts';
import { keep } from './session.ts';
import {
  activeItem,
  clearList,
  closeList,
  isListed,
  listAttributes,
  listView,
  moveInList,
  showList,
  showSoon,
} from './suggestions.ts';

const SHOWN_MAX = 25;
/** Discord's limit for a message's text. */
const MESSAGE_MAX = 2_000;
/** The counter shows from here on. */
const MESSAGE_NEAR_MAX = 1_800;
const LINES_SHOWN_MAX = 8;

let text = '';
let command: Command | undefined;
let fields: Field[] = [];
/** The name of the option that has the focus. */
let focused = '';
let error = '';

/** A reload keeps the typed text, but not a chosen file: the browser does not return it again. */
keep(
  'composer',
  () => (command ? typedLine(command, fields) : text),
  (line) => {
    if (line !== '') onText(line, false);
  },
);

function typedLine({ label }: Command, typed: readonly Field[]): string {
  const options = typed.filter((field) => field.text !== '' && field.option.type !== Option.Attachment);
  return [`/${label}`, ...options.map((field) => `${field.option.label}:${field.text}`), ''].join(' ');
}

/** Draws the composer with its list of suggestions. */
export function composerView(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html`<div class="composer"></div>`;
  return html`<form class="composer" @submit=${onSubmit} @keydown=${onKey}>
    ${listView()}
    ${error ? html`<p class="error" role="alert">${error}</p>` : nothing}
    ${command ? guideView(command) : nothing}
    <div class="line">
      ${command ? commandLine(command, guild) : textLine(channel.name)}
      <button class="send" type="submit" aria-label="Send">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M3 20V4l19 8Zm2-3 11.800-5L5 7v3.500l6 1.500-6 1.500Z"/></svg>
      </button>
    </div>
  </form>`;
}

/** Draws the description of the focused option, which must be readable without a pointer. */
function guideView(chosen: Command): TemplateResult {
  const option = chosen.options.find(({ name }) => name === focused);
  return html`<p class="guide" aria-hidden="true">
    <b>${option ? option.label : `/${chosen.label}`}</b> ${option ? option.description : chosen.description}
  </p>`;
}

function textLine(channel: string): TemplateResult {
  const { controls, active: descendant } = listAttributes();
  const left = MESSAGE_MAX - text.length;
  const counter =
    text.length < MESSAGE_NEAR_MAX
      ? nothing
      : html`<span class="counter ${left < 0 ? 'over' : ''}" role="status" aria-label="${left} characters left">${left}</span>`;
  return html`<textarea id="composer" class="text" autocomplete="off" rows=${linesOf(text)}
    aria-label="Message #${channel}. Type / for commands" aria-autocomplete="list" aria-haspopup="listbox"
    aria-controls=${controls} aria-activedescendant=${descendant}
    placeholder="Message #${channel} or type /" .value=${live(text)}
    @input=${(event: InputEvent) => onText((event.target as HTMLTextAreaElement).value)}
    @blur=${closeList}></textarea>${counter}`;
}

const linesOf = (value: string): number => Math.min(LINES_SHOWN_MAX, value.split('\n').length);

function commandLine(chosen: Command, guild: GuildState): TemplateResult {
  const missing = chosen.options.filter(({ name }) => !fields.some(({ option }) => option.name === name));
  const more = html`<button type="button" class="add" aria-haspopup="listbox" @click=${() => offerOptions(missing)}
    @blur=${closeList}>+ ${missing.length} optional</button>`;
  return html`<div class="command" role="group" aria-label="Command /${chosen.label}">
    <span class="path">/${chosen.label}</span>
    ${repeat(
      fields,
      ({ option }) => option.name,
      (field) => fieldView(field, guild),
    )}
    ${missing.length > 0 ? more : nothing}
    <button type="button" class="leave" aria-label="Leave the command" @click=${leave}>✕</button>
  </div>`;
}

/** Lists the options that are not on the line yet, each with its description. */
function offerOptions(missing: readonly CommandOption[]): void {
  const items = missing.map((option) => ({
    label: option.label,
    detail: option.description,
    pick: () => addField(option),
  }));
  showList(items, true);
  draw();
}

function fieldView(field: Field, guild: GuildState): TemplateResult {
  const { option } = field;
  const { expanded, controls, active: descendant } = listAttributes();
  const id = `option-${option.name}`;
  const onFocus = (): void => {
    focused = option.name;
    if (option.type === Option.Attachment) draw();
    else suggest(field, guild);
  };
  const input =
    option.type === Option.Attachment
      ? html`<input id=${id} type="file" aria-description=${option.description} @focus=${onFocus}
          @change=${(event: Event) => void onFile(field, event)}>`
      : html`<input id=${id} type="text" autocomplete="off" spellcheck="false" role="combobox" aria-autocomplete="list"
          aria-description=${option.description} aria-expanded=${expanded} aria-controls=${controls}
          aria-activedescendant=${descendant} size=${Math.min(44, Math.max(6, field.text.length + 1))}
          .value=${live(field.text)}
          @focus=${onFocus}
          @blur=${closeList}
          @paste=${(event: ClipboardEvent) => onPaste(field, guild, event)}
          @input=${(event: InputEvent) => onField(field, guild, (event.target as HTMLInputElement).value)}>`;
  return html`<label class="option" for=${id}><span>${option.label}</span>${input}</label>`;
}

function onText(value: string, isTyped = true): void {
  text = value;
  error = '';
  clearList();
  const guild = guildOf(ui.guildId);
  if (guild && value.startsWith('/')) {
    const commands = commandsFor(guild, ui.userId);
    const typed = findTyped(commands, value.slice(1));
    if (typed) {
      choose(typed.command, typed.rest, isTyped);
      return;
    }
    const items = commandsLike(commands, value.slice(1))
      .slice(0, SHOWN_MAX)
      .map((one) => ({ label: `/${one.label}`, detail: one.description, pick: () => choose(one, '') }));
    if (isTyped) showList(items, true);
  }
  draw();
}

/** Puts a command on the line; `rest`: the text after it: `address:0x… label:Treasury`. */
function choose(chosen: Command, rest: string, isTyped = true): void {
  command = chosen;
  focused = '';
  text = '';
  clearList();
  const written = readOptions(chosen, rest);
  fields = chosen.options
    .filter((option) => option.required || written.has(option.name))
    .map((option) => ({ option, text: written.get(option.name) ?? '', picked: undefined }));
  if (isTyped) focusNext();
}

function addField(option: CommandOption): void {
  fields = [...fields, { option, text: '', picked: undefined }];
  clearList();
  drawAtOnce(() => focusField(option));
}

const focusField = ({ name }: CommandOption): void => document.getElementById(`option-${name}`)?.focus();

/** Focuses the first empty option, or the send button. */
function focusNext(): void {
  const empty = fields.find((field) => field.text === '' && !field.picked) ?? fields.at(-1);
  drawAtOnce(() => {
    if (empty) focusField(empty.option);
    else document.querySelector<HTMLElement>('.composer .send')?.focus();
  });
}

function leave(): void {
  command = undefined;
  fields = [];
  focused = '';
  text = '';
  error = '';
  closeList();
  drawAtOnce(() => document.getElementById('composer')?.focus());
}

function onField(field: Field, guild: GuildState, value: string): void {
  field.text = value;
  if (field.picked?.text !== value) field.picked = undefined;
  error = '';
  suggest(field, guild);
  draw();
}

/** A one-line input drops line breaks silently; lists of addresses need a separator. */
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

/** Fills the list for an option. Enter and Tab take the first item, unless the field is complete already. */
function suggest(field: Field, guild: GuildState): void {
  const { option } = field;
  const wanted = field.text.toLowerCase();
  const isComplete = (choices: readonly (readonly [label: string, value: OptionInput])[]): boolean =>
    field.picked !== undefined ||
    choices.some(([label, value]) => label.toLowerCase() === wanted || (wanted !== '' && value === field.text));
  const itemOf = ([label, value, detail]: readonly [string, OptionInput, string]) => ({
    label,
    detail,
    pick: () => pick(field, label, value),
  });
  if ('autocomplete' in option && option.autocomplete) {
    showSoon(
      () => complete(field),
      (state) => {
        if (state?.failure) error = state.failure;
        const choices = (state?.choices ?? []).map(({ name, value }) => [name, value, ''] as const);
        return { items: choices.map(itemOf), takesFirst: !isComplete(choices.map(([name, value]) => [name, value])) };
      },
    );
    draw();
    return;
  }
  const offered = offers(option, guild);
  const fitting = field.picked ? offered : offered.filter(([label]) => label.toLowerCase().includes(wanted));
  const takesFirst = !isComplete(offered.map(([label, value]) => [label, value]));
  showList(fitting.slice(0, SHOWN_MAX).map(itemOf), takesFirst);
  draw();
}

/** Asks the bot for suggestions. */
async function complete(field: Field): Promise<InteractionState | undefined> {
  const guild = guildOf(ui.guildId);
  if (!command || !guild) return undefined;
  const others = valuesSoFar(
    fields.filter((one) => one !== field),
    guild,
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
  return interact(request).catch(() => undefined);
}

function pick(field: Field, label: string, value: OptionInput): void {
  field.text = label;
  field.picked = { text: label, value };
  clearList();
  const another = fields.some((one) => one.text === '' && !one.picked);
  if (another) focusNext();
  else draw();
}

async function onFile(field: Field, event: Event): Promise<void> {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (!file) return;
  const value = await readFile(file);
  field.text = file.name;
  field.picked = { text: file.name, value };
  draw();
}

function onKey(event: KeyboardEvent): void {
  if (event.isComposing) return;
  const { key } = event;
  if ((key === 'ArrowDown' || key === 'ArrowUp') && isListed()) {
    moveInList(key === 'ArrowDown' ? 1 : -1);
  } else if ((key === 'Enter' || (key === 'Tab' && !event.shiftKey)) && activeItem()) {
    activeItem()!.pick();
  } else if (key === 'Enter' && !event.shiftKey && (event.target as HTMLElement).id === 'composer') {
    void sendText();
  } else if (key === 'Escape' && isListed()) {
    closeList();
  } else if (key === 'Escape' && command) {
    leave();
  } else if (key === 'Backspace' && command && (event.target as HTMLInputElement).value === '') {
    dropField(event.target as HTMLInputElement);
  } else return;
  event.preventDefault();
}

/** Backspace in an empty option removes it if it is optional; in the first one it leaves the command. */
function dropField(input: HTMLInputElement): void {
  const at = fields.findIndex(({ option }) => input.id === `option-${option.name}`);
  if (at > 0 && !fields[at]!.option.required) {
    fields = fields.toSpliced(at, 1);
    const previous = fields[at - 1]!;
    drawAtOnce(() => focusField(previous.option));
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
  if (content.length > MESSAGE_MAX) {
    error = `A message has at most ${MESSAGE_MAX.toLocaleString('en-US')} characters. This one has ${content.length.toLocaleString('en-US')}.`;
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
  const read = readValues(fields, guild);
  if ('fault' in read) {
    error = read.fault;
    return drawAtOnce(() => focusField(read.option));
  }
  ui.following = true;
  const who = { userId: ui.userId, channelId: currentChannelId() };
  const typed = fields;
  leave();
  try {
    follow(await interact({ kind: 'command', ...who, name: chosen.path, options: read.values }));
  } catch (refused) {
    restore(chosen, typed, (refused as Error).message);
  }
  draw();
}

/** Restores a refused command with its typed text, unless the line has something else by now. */
function restore(chosen: Command, typed: Field[], reason: string): void {
  if (command || text !== '') {
    notify(reason, true);
    return;
  }
  command = chosen;
  fields = typed;
  error = reason;
  const wrong = typed.find(({ option }) => reason.includes(option.name)) ?? typed[0];
  drawAtOnce(() => {
    if (!wrong) return;
    focusField(wrong.option);
    closeList();
  });
}
