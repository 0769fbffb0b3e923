/** The line at the bottom of a channel: plain messages, and slash commands with their options. */
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
import { attempt, change, currentChannelId, draw, drawAtOnce, follow, interact, ui } from './screen.ts';
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

let text = '';
let command: Command | undefined;
let fields: Field[] = [];
let error = '';

/** The whole line with its list. */
export function composerView(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html`<div class="composer"></div>`;
  return html`<form class="composer" @submit=${onSubmit} @keydown=${onKey}>
    ${listView()}
    ${error ? html`<p class="error" role="alert">${error}</p>` : nothing}
    <div class="line">
      ${command ? commandLine(command, guild) : textLine(channel.name)}
      <button class="send" type="submit" aria-label="Send">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M3 20V4l19 8Zm2-3 11.800-5L5 7v3.500l6 1.500-6 1.500Z"/></svg>
      </button>
    </div>
  </form>`;
}

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
  clearList();
  const guild = guildOf(ui.guildId);
  if (guild && value.startsWith('/')) {
    const commands = commandsFor(guild, ui.userId);
    const typed = findTyped(commands, value.slice(1));
    if (typed) {
      choose(typed.command, typed.rest);
      return;
    }
    const items = commandsLike(commands, value.slice(1))
      .slice(0, SHOWN_MAX)
      .map((one) => ({ label: `/${one.label}`, detail: one.description, pick: () => choose(one, '') }));
    showList(items, true);
  }
  draw();
}

/** Puts a command on the line; `rest` is what was typed after it: `address:0x… label:Treasury`. */
function choose(chosen: Command, rest: string): void {
  command = chosen;
  text = '';
  clearList();
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
  if ('autocomplete' in option && option.autocomplete) {
    showSoon(
      () => complete(field),
      (state) => {
        if (state?.failure) error = state.failure;
        return (state?.choices ?? []).map(({ name, value }) => ({
          label: name,
          detail: '',
          pick: () => pick(field, name, value),
        }));
      },
    );
    draw();
    return;
  }
  const wanted = field.text.toLowerCase();
  const fits = field.picked ? () => true : (label: string) => label.toLowerCase().includes(wanted);
  const offered = offers(option, guild).filter(([label]) => fits(label));
  const items = offered.slice(0, SHOWN_MAX).map(([label, value, detail]) => ({
    label,
    detail,
    pick: () => pick(field, label, value),
  }));
  // Enter takes the first fitting choice, but sends what is complete already.
  const exact = offered.some(([label]) => label.toLowerCase() === wanted);
  showList(items, field.text !== '' && !exact);
  draw();
}

/** Asks the bot, as Discord does while one types. */
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
  } else if (key === 'Escape' && isListed()) {
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
  const read = readValues(fields, guild);
  if ('fault' in read) {
    error = read.fault;
    return drawAtOnce(() => document.getElementById(`option-${read.option.name}`)?.focus());
  }
  ui.following = true;
  const who = { userId: ui.userId, channelId: currentChannelId() };
  leave();
  await attempt(async () =>
    follow(await interact({ kind: 'command', ...who, name: chosen.path, options: read.values })),
  );
  draw();
}
