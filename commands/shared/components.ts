import { hash } from 'node:crypto';
import {
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIEmbedField,
  type APISelectMenuOption,
  type APIStringSelectComponent,
  type APITextInputComponent,
  ButtonStyle,
  ComponentType,
  TextInputStyle,
} from 'discord.js';
import type { FormData, Reply } from '../../src/discord/command.ts';
import { cutTo } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import { embedReply } from './reply.ts';

export type ButtonRow = APIActionRowComponent<APIButtonComponent>;
export type MenuRow = APIActionRowComponent<APIStringSelectComponent>;

/** Discord's limits. */
export const MAX_MENU_OPTIONS = 25;
export const MAX_ROW_BUTTONS = 5;
/** Of an option's label and description, in characters. */
const MAX_OPTION = 100;

type PressStyle = ButtonStyle.Primary | ButtonStyle.Secondary | ButtonStyle.Success | ButtonStyle.Danger;

/** A button that the named command's `buttons` handle; it still works after a restart. */
export function button(
  label: string,
  customId: string,
  style: PressStyle = ButtonStyle.Secondary,
  disabled = false,
): APIButtonComponent {
  return { type: ComponentType.Button, style, label, custom_id: customId, disabled };
}

export function linkButton(label: string, url: string): APIButtonComponent {
  return { type: ComponentType.Button, style: ButtonStyle.Link, label, url };
}

export function row(...buttons: APIButtonComponent[]): ButtonRow {
  return { type: ComponentType.ActionRow, components: buttons };
}

export function rows(...lists: APIButtonComponent[][]): ButtonRow[] {
  return lists.filter(({ length }) => length > 0).map((buttons) => row(...buttons));
}

export function menuRow(
  customId: string,
  placeholder: string,
  all: APISelectMenuOption[],
  limits: Pick<APIStringSelectComponent, 'min_values' | 'max_values'> = {},
): MenuRow {
  const options = all.map(({ label, description, ...rest }) => ({
    ...rest,
    label: cutTo(label, MAX_OPTION),
    ...(description && { description: cutTo(description, MAX_OPTION) }),
  }));
  const menu = { type: ComponentType.StringSelect as const, custom_id: customId, placeholder, options, ...limits };
  return { type: ComponentType.ActionRow, components: [menu] };
}

/** Pages are counted from 0. */
export function pager(t: Translate, page: number, pages: number, idOf: (page: number) => string): APIButtonComponent[] {
  if (pages < 2) return [];
  return [
    button(t('reply.back'), idOf(page - 1), ButtonStyle.Secondary, page <= 0),
    button(t('reply.next'), idOf(page + 1), ButtonStyle.Secondary, page >= pages - 1),
  ];
}

export function textField(
  customId: string,
  label: string,
  description: string,
  input: Pick<APITextInputComponent, 'max_length' | 'required' | 'value'>,
): FormData['components'][number] {
  return {
    type: ComponentType.Label,
    label,
    description,
    component: { type: ComponentType.TextInput, custom_id: customId, style: TextInputStyle.Short, ...input },
  };
}

/** A short hash for custom IDs: shows whether the value is still the one in the question, without revealing it. */
export const fingerprint = (text: string): string => hash('sha256', text).slice(0, 16);

/** `warn`: nothing is lost. */
export function question(
  title: string,
  lines: readonly (string | null)[],
  yes: [label: string, customId: string],
  no: [label: string, customId: string],
  { tone = 'danger', fields = [] }: { tone?: 'warn' | 'danger'; fields?: APIEmbedField[] } = {},
): Reply {
  const style = tone === 'danger' ? ButtonStyle.Danger : ButtonStyle.Success;
  return embedReply(tone, title, lines, { fields, components: [row(button(...yes, style), button(...no))] });
}
