import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import type { GuildState, InteractionState, OptionInput } from '../../discord/control.ts';
import {
  type Command,
  type CommandOption,
  commandsFor,
  commandsLike,
  type Field,
  findTyped,
  type Offer,
  offers,
  readFile,
  readOptions,
  valuesSoFar,
} from './commands.ts';
import { guildOf } from './model.ts';
import { interact } from './requests.ts';
import { draw, drawAtOnce, notify, ui } from './screen.ts';
import { keep } from './session.ts';
import { clearList, closeList, type Item, showList, showSoon } from './suggestions.ts';

/** As many suggestions as Discord shows. */
const MAX_SHOWN = 25;

export const draft = {
  text: '',
  command: undefined as Command | undefined,
  fields: [] as Field[],
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
    const items = commandsLike(commands, value.slice(1)).map((command) => ({
      label: `/${command.label}`,
      detail: command.description,
      pick: () => choose(command, ''),
    }));
    if (isTyped) showList(items, true);
  }
  draw();
}

/** `rest` is the text after the command: `address:0x… label:Treasury`. */
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

export function addField(option: CommandOption): void {
  draft.fields = [...draft.fields, { option, text: '', picked: undefined }];
  clearList();
  drawAtOnce(() => focusField(option));
}

export const focusField = ({ name }: CommandOption): void => document.getElementById(`option-${name}`)?.focus();

/** The first empty option, or the send button. */
export function focusNext(): void {
  const empty = draft.fields.find((field) => field.text === '' && !field.picked) ?? draft.fields.at(-1);
  drawAtOnce(() => {
    if (empty) focusField(empty.option);
    else document.querySelector<HTMLElement>('.composer .send')?.focus();
  });
}

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

/** Does nothing to a line that has something else by now. */
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

export function onField(field: Field, guild: GuildState, value: string): void {
  field.text = value;
  if (field.picked?.text !== value) field.picked = undefined;
  draft.error = '';
  suggest(field, guild);
  draw();
}

/** Turns pasted line breaks into spaces. A one-line input would drop them, and addresses would run together. */
export function onPaste(field: Field, guild: GuildState, event: ClipboardEvent): void {
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

/** Enter and Tab take the first item, unless the field is complete already. */
export function suggest(field: Field, guild: GuildState): void {
  const { option } = field;
  const wanted = field.text.toLowerCase();
  const isComplete = (offered: readonly Offer[]): boolean =>
    field.picked !== undefined ||
    offered.some(([label, value]) => label.toLowerCase() === wanted || (wanted !== '' && value === field.text));
  const itemOf = ([label, value, detail]: Offer): Item => ({ label, detail, pick: () => pick(field, label, value) });
  if ('autocomplete' in option && option.autocomplete) {
    showSoon(async () => {
      const state = await complete(field, guild);
      const choices = (state?.choices ?? []).map(({ name, value }): Offer => [name, value, '']);
      return () => {
        if (state?.failure) draft.error = state.failure;
        showList(choices.map(itemOf), !isComplete(choices));
      };
    });
  } else {
    const offered = offers(option, guild);
    const fitting = field.picked ? offered : offered.filter(([label]) => label.toLowerCase().includes(wanted));
    showList(fitting.slice(0, MAX_SHOWN).map(itemOf), !isComplete(offered));
  }
  draw();
}

async function complete(field: Field, guild: GuildState): Promise<InteractionState | undefined> {
  if (!draft.command) return undefined;
  const { name } = field.option;
  const others = draft.fields.filter((other) => other !== field);
  return interact({
    kind: 'autocomplete',
    name: draft.command.path,
    options: { ...valuesSoFar(others, guild), [name]: field.picked ? '' : field.text },
    focused: name,
  }).catch(() => undefined);
}

function pick(field: Field, label: string, value: OptionInput): void {
  field.text = label;
  field.picked = { text: label, value };
  clearList();
  const another = draft.fields.some((field) => field.text === '' && !field.picked);
  if (another) focusNext();
  else draw();
}

export async function onFile(field: Field, event: Event): Promise<void> {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (!file) return;
  const value = await readFile(file);
  field.text = file.name;
  field.picked = { text: file.name, value };
  draw();
}
