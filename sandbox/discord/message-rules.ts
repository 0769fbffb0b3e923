/** Discord's rules for messages and forms, beyond its published schemas. */
import { type APIMessage, ButtonStyle, ComponentType, MessageFlags, MessageReferenceType } from 'discord.js';
import { MIB } from '../../src/domain/units.ts';
import { createFieldErrors, errors, type FieldErrors, type Path, repeatedIn, wrong } from './errors.ts';
import { conforms, type Json } from './validate.ts';

export const MAX_CONTENT = 2_000;
const MAX_EMBEDS = 6_000;
const MAX_TEXT_DISPLAY = 4_000;
const MAX_FILE = 10 * MIB;
const MAX_REQUEST = 25 * MIB;
/** Hosts that Discord refuses in links: a single label, or one with an underscore. */
const NO_HOST = /^(?!localhost$)[^.:]*$|_/;

/** `id` is the number n of `files[n]`. */
export interface Upload {
  id: string;
  filename: string;
  contentType: string;
  bytes: Buffer;
}

interface Form {
  /** `message` and `reply` create a message; the others change one. */
  kind: 'message' | 'message-edit' | 'reply' | 'reply-edit';
  /** The message's path in the body, if it is not the whole body. */
  base?: Path;
  uploads: readonly Upload[];
  edited?: APIMessage;
}

const blank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';

function checkUrl(url: unknown, path: Path, found: FieldErrors, schemes: string[]): void {
  if (blank(url)) return;
  const scheme = String(url).split(':', 1)[0]!.toLowerCase();
  if (schemes.includes(scheme)) {
    if (scheme.startsWith('http') && URL.canParse(String(url)) && NO_HOST.test(new URL(String(url)).hostname))
      found.add(path, ...wrong.invalidUrl);
    return;
  }
  const allowed = schemes.map((name) => `'${name}'`).join(', ');
  found.add(
    path,
    'URL_TYPE_INVALID_SCHEME',
    `Scheme "${scheme}" is not supported. Scheme must be one of (${allowed}).`,
  );
}

function checkEmbed(embed: Json, path: Path, found: FieldErrors): number {
  const parts = ['title', 'description', 'url', 'image', 'thumbnail', 'author', 'footer', 'fields', 'video'];
  const filled = parts.filter((part) => (typeof embed[part] === 'string' ? !blank(embed[part]) : embed[part]));
  if (filled.length === 0 || (filled.length === 1 && embed.fields?.length === 0))
    found.required([...path, 'description']);
  checkUrl(embed.url, [...path, 'url'], found, ['http', 'https']);
  for (const part of ['image', 'thumbnail'] as const) {
    if (!embed[part]) continue;
    if (blank(embed[part].url)) found.required([...path, part, 'url']);
    checkUrl(embed[part].url, [...path, part, 'url'], found, ['http', 'https', 'attachment']);
  }
  if (embed.author && blank(embed.author.name)) found.required([...path, 'author', 'name']);
  if (embed.footer && blank(embed.footer.text)) found.required([...path, 'footer', 'text']);
  for (const part of ['author', 'footer'] as const)
    checkUrl(embed[part]?.icon_url, [...path, part, 'icon_url'], found, ['http', 'https', 'attachment']);
  checkUrl(embed.author?.url, [...path, 'author', 'url'], found, ['http', 'https']);
  let length = [embed.title, embed.description, embed.author?.name, embed.footer?.text].reduce(
    (sum: number, text) => sum + (typeof text === 'string' ? text.trim().length : 0),
    0,
  );
  for (const [index, field] of (embed.fields ?? []).entries()) {
    if (blank(field.name)) found.required([...path, 'fields', index, 'name']);
    if (blank(field.value)) found.required([...path, 'fields', index, 'value']);
    length += field.name.trim().length + field.value.trim().length;
  }
  return length;
}

export function* componentsIn(list: Json, path: Path): Generator<[component: Json, path: Path]> {
  for (const [index, component] of (Array.isArray(list) ? list : []).entries()) {
    yield [component, [...path, index]];
    yield* componentsIn(component.components, [...path, index, 'components']);
    for (const part of ['accessory', 'component']) if (component[part]) yield [component[part], [...path, index, part]];
  }
}

function checkButton(button: Json, path: Path, found: FieldErrors): void {
  const kind =
    button.style === ButtonStyle.Link ? 'url' : button.style === ButtonStyle.Premium ? 'sku_id' : 'custom_id';
  if (blank(button[kind])) found.required([...path, kind]);
  const other = kind === 'custom_id' ? 'url' : 'custom_id';
  if (button[other]) found.add([...path, other], ...wrong.buttonHasIdAndUrl);
  if (kind !== 'sku_id' && blank(button.label) && !button.emoji) found.add([...path, 'label'], ...wrong.buttonIsBlank);
  checkUrl(button.url, [...path, 'url'], found, ['http', 'https', 'discord']);
}

function checkSelect(select: Json, path: Path, found: FieldErrors): void {
  const min = select.min_values ?? 1;
  const max = select.max_values ?? 1;
  if (min > max) found.add([...path, 'min_values'], 'BASE_TYPE_MAX', 'min_values must not be greater than max_values.');
  if (!select.options) return;
  if (max > select.options.length)
    found.add([...path, 'max_values'], 'BASE_TYPE_MAX', `Must be ${select.options.length} or less.`);
  if (select.options.filter((option: Json) => option.default).length > max)
    found.add([...path, 'options'], ...wrong.tooManyDefaults);
  for (const index of repeatedIn(select.options.map((option: Json) => option.value)))
    found.add([...path, 'options', index, 'value'], ...wrong.repeatedValue);
}

/** `text` is the length of the displayed text. */
function checkComponents(list: Json, path: Path, found: FieldErrors): { count: number; text: number } {
  const all = [...componentsIn(list, path)];
  let text = 0;
  for (const [component, at] of all) {
    if (component.type === ComponentType.TextDisplay) text += String(component.content).length;
    if (component.type === ComponentType.Button) checkButton(component, at, found);
    if (component.type === ComponentType.StringSelect) checkSelect(component, at, found);
    if (component.type === ComponentType.TextInput && component.min_length > component.max_length)
      found.add([...at, 'min_length'], 'BASE_TYPE_MAX', 'min_length must not be greater than max_length.');
    if (component.type === ComponentType.ActionRow && Array.isArray(component.components)) {
      const kinds = new Set(component.components.map((inner: Json) => inner.type === ComponentType.Button));
      if (component.components.length > 1 && !(kinds.size === 1 && kinds.has(true)))
        found.add([...at, 'components'], ...wrong.rowIsTooWide);
    }
  }
  const named = all.filter(([{ custom_id }]) => typeof custom_id === 'string');
  for (const index of repeatedIn(named.map(([{ custom_id }]) => custom_id)))
    found.add([...named[index]![1], 'custom_id'], ...wrong.repeatedId);
  return { count: all.length, text };
}

function checkMentions(allowed: Json, path: Path, found: FieldErrors): void {
  for (const kind of ['parse', 'users', 'roles'] as const) found.distinct([...path, kind], allowed?.[kind]);
  for (const kind of ['users', 'roles'] as const) {
    if (!allowed?.parse?.includes(kind) || !allowed[kind]?.length) continue;
    found.add(
      path,
      'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
      `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
    );
  }
}

function checkAttachments(body: Json, form: Form, path: Path, found: FieldErrors): void {
  if (form.uploads.some(({ bytes }) => bytes.length > MAX_FILE)) throw errors.tooLarge();
  if (form.uploads.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_REQUEST) throw errors.tooLarge();
  if (form.uploads.length > 10)
    found.add([...path, 'attachments'], 'BASE_TYPE_MAX_LENGTH', 'Must be 10 or fewer in length.');
  for (const [index, item] of (body.attachments ?? []).entries()) {
    const known = [...form.uploads, ...(form.edited?.attachments ?? [])];
    if (!known.some(({ id }) => id === String(item.id)))
      found.add([...path, 'attachments', index], ...wrong.unknownAttachment);
  }
}

function checkLegacy(body: Json, path: Path, found: FieldErrors): void {
  for (const [index, row] of (body.components ?? []).entries())
    if (row.type !== ComponentType.ActionRow)
      found.add(
        [...path, 'components', index, 'type'],
        'UNION_TYPE_CHOICES',
        'Value of field "type" must be one of (1,).',
      );
  if (body.components?.length > 5)
    found.add([...path, 'components'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
}

function checkComponentsV2(body: Json, path: Path, size: { count: number; text: number }, found: FieldErrors): void {
  for (const field of ['content', 'embeds', 'poll', 'sticker_ids'] as const)
    if (body[field]?.length > 0 || (field === 'poll' && body.poll))
      found.add(
        [...path, field],
        'MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2',
        `The '${field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`,
      );
  if (size.count > 40) found.add([...path, 'components'], ...wrong.tooManyComponents);
  if (size.text > MAX_TEXT_DISPLAY)
    found.add(
      [...path, 'components'],
      'COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED',
      `The displayable text of components exceeds the maximum size of ${MAX_TEXT_DISPLAY}`,
    );
}

export function checkMessage(body: Json, form: Form): void {
  const found = createFieldErrors();
  const base = form.base ?? [];
  if (conforms(form.kind, body, found, base)) {
    const v2 = ((Number(body.flags ?? 0) | (form.edited?.flags ?? 0)) & MessageFlags.IsComponentsV2) !== 0;
    if (typeof body.content === 'string' && body.content.trim().length > MAX_CONTENT)
      found.add([...base, 'content'], 'BASE_TYPE_MAX_LENGTH', `Must be ${MAX_CONTENT} or fewer in length.`);
    let length = 0;
    for (const [index, embed] of (body.embeds ?? []).entries())
      length += checkEmbed(embed, [...base, 'embeds', index], found);
    if (length > MAX_EMBEDS)
      found.add([...base, 'embeds'], 'MAX_EMBED_SIZE_EXCEEDED', `Embed size exceeds maximum size of ${MAX_EMBEDS}`);
    const size = checkComponents(body.components, [...base, 'components'], found);
    if (v2) checkComponentsV2(body, base, size, found);
    else checkLegacy(body, base, found);
    checkMentions(body.allowed_mentions, [...base, 'allowed_mentions'], found);
    checkAttachments(body, form, base, found);
  }
  found.throwIfAny();
}

/** @throws Discord's error also when nothing would be left of the message. */
export function checkEdit(edited: APIMessage, body: Json, form: Pick<Form, 'kind' | 'uploads'>, strict: boolean): void {
  if (strict) checkMessage(body, { ...form, edited });
  const after = { ...edited, message_reference: null, ...body };
  if (isEmpty(after, form.uploads) && (body.attachments ?? edited.attachments).length === 0)
    throw errors.emptyMessage();
}

export function isEmpty(body: Json, uploads: readonly Upload[]): boolean {
  const some = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
  return (
    blank(body.content) &&
    !some(body.embeds) &&
    !some(body.sticker_ids) &&
    !body.poll &&
    uploads.length === 0 &&
    !(Number(body.flags ?? 0) & MessageFlags.IsComponentsV2 && some(body.components)) &&
    body.message_reference?.type !== MessageReferenceType.Forward
  );
}

export function checkModal(body: Json): void {
  const found = createFieldErrors();
  if (conforms('modal', body, found, ['data'])) {
    if (body.components.length > 5)
      found.add(['data', 'components'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.');
    for (const [index, row] of body.components.entries()) {
      const at: Path = ['data', 'components', index];
      // A label replaces its input's own, and a form's inputs cannot be disabled.
      for (const key of ['label', 'disabled'])
        if (row.component?.[key])
          found.add([...at, 'component', key], 'BASE_TYPE_CHOICES', `${key} is not allowed inside a label.`);
      if (row.type !== ComponentType.ActionRow) continue;
      if (row.components.length > 1)
        found.add([...at, 'components'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 1 in length.');
      for (const [inner, input] of row.components.entries())
        if (blank(input.label)) found.required([...at, 'components', inner, 'label']);
    }
    checkComponents(body.components, ['data', 'components'], found);
  }
  found.throwIfAny();
}
