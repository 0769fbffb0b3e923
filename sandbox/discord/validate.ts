/** Checks bodies against Discord's published schemas, and reports errors in Discord's words. */
import * as spec from 'discord-api-spec/zod';
import type { ZodMiniType } from 'zod/mini';
import { createFieldErrors, type FieldErrors, type Path, wrong } from './errors.ts';

/** Every reader checks what it uses. */
// biome-ignore lint/suspicious/noExplicitAny: the only place where unchecked JSON enters
export type Json = any;

interface Issue {
  code?: string;
  path: PropertyKey[];
  input?: unknown;
  message: string;
  expected?: string;
  origin?: string;
  minimum?: number | bigint;
  maximum?: number | bigint;
  format?: string;
  values?: unknown[];
  errors?: Issue[][];
}

const typeErrors: Record<string, [code: string, message: (input: string) => string]> = {
  string: ['STRING_TYPE_CONVERT', (input) => `Could not interpret "${input}" as string.`],
  number: ['NUMBER_TYPE_COERCE', (input) => `Value "${input}" is not a number.`],
  int: ['NUMBER_TYPE_COERCE', (input) => `Value "${input}" is not int.`],
  boolean: ['BOOLEAN_TYPE_CONVERT', () => 'Must be either true or false.'],
  array: ['LIST_TYPE_CONVERT', () => 'Only iterables may be used in a ListType'],
  object: ['DICT_TYPE_CONVERT', () => 'Only dictionaries may be used in a DictType'],
  record: ['DICT_TYPE_CONVERT', () => 'Only dictionaries may be used in a DictType'],
};

/** Of a union's branches, the one with the same `type`, otherwise the one that matched furthest. */
function meant(branches: Issue[][]): Issue[] | undefined {
  const fits = branches.filter((issues) => !issues.some(({ path }) => path.at(-1) === 'type' && path.length === 1));
  const depth = (issues: Issue[]): number => Math.max(...issues.map(({ path }) => path.length));
  return fits.sort((a, b) => depth(b) - depth(a))[0];
}

function describe(issue: Issue, base: Path, found: FieldErrors): void {
  const path = [...base, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
  const isLength = issue.origin === 'string' || issue.origin === 'array';
  const absent = issue.input === undefined || issue.input === null;
  const input = String(issue.input).slice(0, 100);
  switch (issue.code) {
    case 'too_big':
      if (isLength) found.add(path, 'BASE_TYPE_MAX_LENGTH', `Must be ${issue.maximum} or fewer in length.`);
      else found.add(path, 'NUMBER_TYPE_MAX', `int value should be less than or equal to ${issue.maximum}.`);
      return;
    case 'too_small':
      if (isLength && (issue.input as string | unknown[]).length === 0) found.required(path);
      else if (isLength) found.add(path, 'BASE_TYPE_MIN_LENGTH', `Must be ${issue.minimum} or more in length.`);
      else found.add(path, 'NUMBER_TYPE_MIN', `int value should be greater than or equal to ${issue.minimum}.`);
      return;
    case 'invalid_type': {
      const [code, message] = typeErrors[issue.expected ?? ''] ?? ['BASE_TYPE_CHOICES', () => issue.message];
      if (absent) found.required(path);
      else found.add(path, code, message(input));
      return;
    }
    case 'invalid_format':
      if (issue.format === 'url') found.add(path, ...wrong.invalidUrl);
      else if (issue.format === 'datetime')
        found.add(path, 'DATE_TIME_TYPE_PARSE', `Could not parse ${input}. Should be ISO8601.`);
      else found.add(path, 'NUMBER_TYPE_COERCE', `Value "${input}" is not snowflake.`);
      return;
    case 'invalid_value':
      if (absent) found.required(path);
      else found.add(path, 'BASE_TYPE_CHOICES', `Value must be one of {${(issue.values ?? []).join(', ')}}.`);
      return;
    case 'invalid_union': {
      const branch = meant(issue.errors ?? []);
      if (branch) for (const inner of branch) describe(inner, path, found);
      else if (absent) found.required(path);
      else found.add([...path, 'type'], 'UNION_TYPE_CHOICES', 'Value of field "type" must be one of the known types.');
      return;
    }
    default:
      found.add(path, 'BASE_TYPE_CHOICES', issue.message);
  }
}

const schemas = {
  message: spec.MessageCreateRequestSchema,
  'message-edit': spec.MessageEditRequestPartialSchema,
  reply: spec.IncomingWebhookInteractionRequestSchema,
  'reply-edit': spec.IncomingWebhookUpdateForInteractionCallbackRequestPartialSchema,
  modal: spec.ModalInteractionCallbackRequestDataSchema,
  command: spec.ApplicationCommandCreateRequestSchema,
  'command-edit': spec.ApplicationCommandPatchRequestPartialSchema,
  'commands-item': spec.ApplicationCommandUpdateRequestSchema,
  'string-choices': spec.InteractionApplicationCommandAutocompleteCallbackStringDataSchema,
  'integer-choices': spec.InteractionApplicationCommandAutocompleteCallbackIntegerDataSchema,
  'number-choices': spec.InteractionApplicationCommandAutocompleteCallbackNumberDataSchema,
  'thread-on-message': spec.CreateTextThreadWithMessageRequestSchema,
  thread: spec.CreateTextThreadWithoutMessageRequestSchema,
  'forum-post': spec.CreateForumThreadRequestSchema,
  'thread-edit': spec.UpdateThreadRequestPartialSchema,
};

/** Discord accepts numbers as text, and ids as numbers. The schemas accept one form of each. */
function coerce(body: Json): Json {
  const out = { ...body };
  for (const key of ['flags', 'default_member_permissions'])
    if (typeof out[key] === 'string' && /^\d+$/.test(out[key])) out[key] = Number(out[key]);
  if (Array.isArray(out.attachments))
    out.attachments = out.attachments.map((item: Json) =>
      typeof item?.id === 'number' ? { ...item, id: String(item.id) } : item,
    );
  return out;
}

/** Paths of the added errors begin with `base`. Returns whether there were none. */
export function conforms(kind: keyof typeof schemas, body: Json, found: FieldErrors, base: Path = []): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    found.add(base, 'DICT_TYPE_CONVERT', 'Only dictionaries may be used in a DictType');
    return false;
  }
  const schema: ZodMiniType = schemas[kind];
  const coerced = coerce(body);
  // Errors need the slower pass, so the quick one comes first.
  if (schema.safeParse(coerced).success) return true;
  for (const issue of schema.safeParse(coerced, { reportInput: true }).error?.issues ?? [])
    describe(issue as Issue, base, found);
  return false;
}

/** @throws 400/50035 */
export function validate(kind: keyof typeof schemas, body: Json): void {
  const found = createFieldErrors();
  conforms(kind, body, found);
  found.throwIfAny();
}
