/** What is in the composer: a text, or a command with its options. */
import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import { type Command, type CommandOption, commandsFor } from './commands.ts';
import { guildOf } from './model.ts';
import { commandsLike, type Field, findTyped, readOptions } from './options.ts';
import { draw, drawAtOnce, notify, ui } from './screen.ts';
import { keep } from './session.ts';
import { clearList, closeList, showList } from './suggestions.ts';

/** How many suggestions are shown at most, as in Discord. */
export const MAX_SHOWN = 25;

/** The message or command that the person is writing. */
export const draft = {
  text: '',
  command: undefined as Command | undefined,
  fields: [] as Field[],
  /** The name of the option that has the focus. */
  focused: '',
  error: '',
};

/** A reload keeps the typed text, but not a chosen file: the browser does not return it again. */
keep(
  'composer',
  () => (draft.command ? typedLine(draft.command, draft.fields) : draft.text),
  (saved) => {
    if (saved !== '') onText(saved, false);
  },
);

function typedLine({ label }: Command, typed: readonly Field[]): string {
  const options = typed.filter((field) => field.text !== '' && field.option.type !== Option.Attachment);
  return [`/${label}`, ...options.map((field) => `${field.option.label}:${field.text}`), ''].join(' ');
}

/** Takes a new text of the input, and shows commands that fit it. */
export function onText(value: string, isTyped = true): void {
  draft.text = value;
  draft.error = '';
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
      .slice(0, MAX_SHOWN)
      .map((one) => ({ label: `/${one.label}`, detail: one.description, pick: () => choose(one, '') }));
    if (isTyped) showList(items, true);
  }
  draw();
}

/** Puts a command on the line; `rest`: the text after it: `address:0x… label:Treasury`. */
export function choose(chosen: Command, rest: string, isTyped = true): void {
  draft.command = chosen;
  draft.focused = '';
  draft.text = '';
  clearList();
  const written = readOptions(chosen, rest);
  draft.fields = chosen.options
    .filter((option) => option.required || written.has(option.name))
    .map((option) => ({ option, text: written.get(option.name) ?? '', picked: undefined }));
  if (isTyped) focusNext();
}

/** Adds an option to the command and focuses it. */
export function addField(option: CommandOption): void {
  draft.fields = [...draft.fields, { option, text: '', picked: undefined }];
  clearList();
  drawAtOnce(() => focusField(option));
}

/** Focuses an option. */
export const focusField = ({ name }: CommandOption): void => document.getElementById(`option-${name}`)?.focus();

/** Focuses the first empty option, or the send button. */
export function focusNext(): void {
  const empty = draft.fields.find((field) => field.text === '' && !field.picked) ?? draft.fields.at(-1);
  drawAtOnce(() => {
    if (empty) focusField(empty.option);
    else document.querySelector<HTMLElement>('.composer .send')?.focus();
  });
}

/** Discards the command and its options. */
export function leave(): void {
  draft.command = undefined;
  draft.fields = [];
  draft.focused = '';
  draft.text = '';
  draft.error = '';
  closeList();
  drawAtOnce(() => document.getElementById('composer')?.focus());
}

/** Backspace in an empty option removes it if it is optional; in the first one it leaves the command. */
export function dropField(input: HTMLInputElement): void {
  const at = draft.fields.findIndex(({ option }) => input.id === `option-${option.name}`);
  if (at > 0 && !draft.fields[at]!.option.required) {
    draft.fields = draft.fields.toSpliced(at, 1);
    const previous = draft.fields[at - 1]!;
    drawAtOnce(() => focusField(previous.option));
  } else if (at === 0) {
    const typed = `/${draft.command!.label}`;
    leave();
    onText(typed);
  }
}

/** Restores a refused command with its typed text, unless the line has something else by now. */
export function restore(chosen: Command, typed: Field[], reason: string): void {
  if (draft.command || draft.text !== '') {
    notify(reason, true);
    return;
  }
  draft.command = chosen;
  draft.fields = typed;
  draft.error = reason;
  const wrong = typed.find(({ option }) => reason.includes(option.name)) ?? typed[0];
  drawAtOnce(() => {
    if (!wrong) return;
    focusField(wrong.option);
    closeList();
  });
}
