import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { GuildState } from '../../discord/control.ts';
import { type Command, type CommandOption, commandsFor, type Field, findTyped, readValues } from './commands.ts';
import {
  addField,
  choose,
  draft,
  dropField,
  focusField,
  leave,
  onField,
  onFile,
  onPaste,
  onText,
  restore,
  suggest,
} from './draft.ts';
import { channelOf, guildOf } from './model.ts';
import { change, follow, interact } from './requests.ts';
import { currentChannelId, draw, drawAtOnce, ui } from './screen.ts';
import { activeItem, closeList, isListed, listAttributes, listView, moveInList, showList } from './suggestions.ts';

const MAX_MESSAGE = 2_000;
const COUNTED_FROM = 1_800;
const MAX_LINES_SHOWN = 8;

export function composerView(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html`<div class="composer"></div>`;
  return html`<form class="composer" @submit=${onSubmit} @keydown=${onKey}>
    ${listView()}
    ${draft.error ? html`<p class="error" role="alert">${draft.error}</p>` : nothing}
    ${draft.command ? guideView(draft.command) : nothing}
    <div class="line">
      ${draft.command ? commandLine(draft.command, guild) : textLine(channel.name)}
      <button class="send" type="submit" aria-label="Send">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M3 20V4l19 8Zm2-3 11.8-5L5 7v3.5l6 1.5-6 1.5Z"/></svg>
      </button>
    </div>
  </form>`;
}

/** The focused option's description must be readable without a pointer. */
function guideView(chosen: Command): TemplateResult {
  const option = chosen.options.find(({ name }) => name === draft.focused);
  return html`<p class="guide" aria-hidden="true">
    <b>${option ? option.label : `/${chosen.label}`}</b> ${option ? option.description : chosen.description}
  </p>`;
}

function textLine(channel: string): TemplateResult {
  const { controls, active: descendant } = listAttributes();
  const remaining = MAX_MESSAGE - draft.text.length;
  const counter =
    draft.text.length < COUNTED_FROM
      ? nothing
      : html`<span class="counter ${remaining < 0 ? 'over' : ''}" role="status" aria-label="${remaining} characters left">${remaining}</span>`;
  return html`<textarea id="composer" class="text" autocomplete="off" rows=${linesOf(draft.text)}
    aria-label="Message #${channel}. Type / for commands" aria-autocomplete="list" aria-haspopup="listbox"
    aria-controls=${controls} aria-activedescendant=${descendant}
    placeholder="Message #${channel} or type /" .value=${live(draft.text)}
    @input=${(event: InputEvent) => onText((event.target as HTMLTextAreaElement).value)}
    @blur=${closeList}></textarea>${counter}`;
}

const linesOf = (value: string): number => Math.min(MAX_LINES_SHOWN, value.split('\n').length);

function commandLine(chosen: Command, guild: GuildState): TemplateResult {
  const missing = chosen.options.filter(({ name }) => !draft.fields.some(({ option }) => option.name === name));
  const more = html`<button type="button" class="add" aria-haspopup="listbox" @click=${() => offerOptions(missing)}
    @blur=${closeList}>+ ${missing.length} optional</button>`;
  return html`<div class="command" role="group" aria-label="Command /${chosen.label}">
    <span class="path">/${chosen.label}</span>
    ${repeat(
      draft.fields,
      ({ option }) => option.name,
      (field) => fieldView(field, guild),
    )}
    ${missing.length > 0 ? more : nothing}
    <button type="button" class="leave" aria-label="Leave the command" @click=${leave}>✕</button>
  </div>`;
}

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

  function onFocus(): void {
    draft.focused = option.name;
    if (option.type === Option.Attachment) draw();
    else suggest(field, guild);
  }

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
  } else if (key === 'Escape' && draft.command) {
    leave();
  } else if (key === 'Backspace' && draft.command && (event.target as HTMLInputElement).value === '') {
    dropField(event.target as HTMLInputElement);
  } else return;
  event.preventDefault();
}

function onSubmit(event: SubmitEvent): void {
  event.preventDefault();
  void (draft.command ? sendCommand(draft.command) : sendText());
}

async function sendText(): Promise<void> {
  const content = draft.text.trim();
  if (content === '') return;
  if (content.startsWith('/')) {
    const guild = guildOf(ui.guildId);
    const typed = guild && findTyped(commandsFor(guild, ui.userId), `${content.slice(1)} `);
    if (typed) {
      choose(typed.command, typed.rest);
      if (typed.command.options.every(({ required }) => !required)) await sendCommand(typed.command);
      return;
    }
    draft.error = `There is no command ${content.split(' ')[0]} for you here.`;
    return draw();
  }
  if (content.length > MAX_MESSAGE) {
    draft.error = `A message has at most ${MAX_MESSAGE.toLocaleString('en-US')} characters. This one has ${content.length.toLocaleString('en-US')}.`;
    return draw();
  }
  draft.text = '';
  ui.following = true;
  await change({ do: 'message.send', channelId: currentChannelId(), userId: ui.userId, content }, '');
  draw();
}

async function sendCommand(chosen: Command): Promise<void> {
  const guild = guildOf(ui.guildId);
  if (!guild) return;
  const read = readValues(draft.fields, guild);
  if ('fault' in read) {
    draft.error = read.fault;
    return drawAtOnce(() => focusField(read.option));
  }
  ui.following = true;
  const typed = draft.fields;
  leave();
  try {
    follow(await interact({ kind: 'command', name: chosen.path, options: read.values }));
  } catch (refused) {
    restore(chosen, typed, (refused as Error).message);
  }
  draw();
}
