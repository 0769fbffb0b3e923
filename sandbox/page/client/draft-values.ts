/** The values of a command's options: typed, pasted, chosen from suggestions, or files. */
import type { GuildState, InteractionState, OptionInput } from '../../discord/control.ts';
import { draft, focusNext, MAX_SHOWN } from './draft.ts';
import { guildOf } from './model.ts';
import { type Field, offers, readFile, valuesSoFar } from './options.ts';
import { interact } from './requests.ts';
import { currentChannelId, draw, ui } from './screen.ts';
import { clearList, showList, showSoon } from './suggestions.ts';

/** Takes what was typed into an option. */
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

/** Fills the list for an option. Enter and Tab take the first item, unless the field is complete already. */
export function suggest(field: Field, guild: GuildState): void {
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
        if (state?.failure) draft.error = state.failure;
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
  showList(fitting.slice(0, MAX_SHOWN).map(itemOf), takesFirst);
  draw();
}

/** Asks the bot for suggestions. */
async function complete(field: Field): Promise<InteractionState | undefined> {
  const guild = guildOf(ui.guildId);
  if (!draft.command || !guild) return undefined;
  const others = valuesSoFar(
    draft.fields.filter((one) => one !== field),
    guild,
  );
  const name = field.option.name;
  const request = {
    kind: 'autocomplete' as const,
    userId: ui.userId,
    channelId: currentChannelId(),
    name: draft.command.path,
    options: { ...others, [name]: field.picked ? '' : field.text },
    focused: name,
  };
  return interact(request).catch(() => undefined);
}

function pick(field: Field, label: string, value: OptionInput): void {
  field.text = label;
  field.picked = { text: label, value };
  clearList();
  const another = draft.fields.some((one) => one.text === '' && !one.picked);
  if (another) focusNext();
  else draw();
}

/** Takes the file that was chosen for an option. */
export async function onFile(field: Field, event: Event): Promise<void> {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (!file) return;
  const value = await readFile(file);
  field.text = file.name;
  field.picked = { text: file.name, value };
  draw();
}
