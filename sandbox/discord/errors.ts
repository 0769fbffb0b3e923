/** The tree has the field errors of code 50035. */

/** The message is a sentence for the caller. */
export class NotPossible extends Error {}

/** Names and indexes from a body's root. */
export type Path = readonly (string | number)[];

type Tree = { [key: string]: Tree | { code: string; message: string }[] };

export class DiscordError extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: Tree | undefined;

  constructor(status: number, code: number, message: string, errors?: Tree) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  toJSON(): { message: string; code: number; errors?: Tree } {
    return { message: this.message, code: this.code, ...(this.errors && { errors: this.errors }) };
  }
}

/** The indexes of values that the list had before. */
export const repeatedIn = (list: readonly unknown[]): number[] =>
  list.flatMap((value, index) => (list.indexOf(value) < index ? [index] : []));

export const wrong = {
  buttonHasIdAndUrl: [
    'BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE',
    'A custom id and url cannot both be specified',
  ],
  buttonIsBlank: ['BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED', 'A button must have a label or an emoji'],
  tooManyDefaults: [
    'SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES',
    'The specified number of default values exceeds the specified maximum values',
  ],
  repeatedValue: ['SELECT_COMPONENT_OPTION_VALUE_DUPLICATED', 'The specified option value is already used'],
  repeatedId: ['COMPONENT_CUSTOM_ID_DUPLICATED', 'Component custom id cannot be duplicated'],
  rowIsTooWide: ['COMPONENT_LAYOUT_WIDTH_EXCEEDED', 'The specified component exceeds the maximum width'],
  unknownAttachment: ['ATTACHMENT_NOT_FOUND', 'Attachment is not part of this request or message.'],
  tooManyComponents: ['COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED', 'The number of components exceeds the maximum of 40'],
  invalidUrl: ['URL_TYPE_INVALID_URL', 'Not a well formed URL.'],
  choicesAndAutocomplete: [
    'APPLICATION_COMMAND_OPTIONS_CHOICES_AND_AUTOCOMPLETE',
    'Choices and autocomplete are mutually exclusive.',
  ],
  cannotAutocomplete: [
    'APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_TYPE',
    'Only text and number options can have autocomplete.',
  ],
  repeatedChoice: ['APPLICATION_COMMAND_OPTIONS_CHOICES_NAME_DUPLICATE', 'Choice names must be unique.'],
  repeatedOption: ['APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATE', 'Option names must be unique.'],
  mixedOptions: [
    'APPLICATION_COMMAND_OPTIONS_TYPE_MIXED',
    'Sub-command and sub-command group option types are mutually exclusive to all other types.',
  ],
  requiredIsLate: [
    'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID',
    'Required options must be placed before non-required options',
  ],
  menuHasDescription: ['APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION', 'Context menu commands cannot have description'],
  menuHasOptions: ['APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS', 'Context menu commands cannot have options'],
  invalidName: ['APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid'],
  repeatedCommand: ['APPLICATION_COMMANDS_DUPLICATE_NAME', 'Application command names must be unique'],
} as const;

export type FieldErrors = ReturnType<typeof createFieldErrors>;

export function createFieldErrors() {
  const tree: Tree = {};
  let found = false;

  function add(path: Path, code: string, message: string): void {
    found = true;
    let node = tree;
    for (const key of path) {
      node[key] ??= {};
      node = node[key] as Tree;
    }
    node._errors ??= [];
    (node._errors as { code: string; message: string }[]).push({ code, message });
  }

  function required(path: Path): void {
    add(path, 'BASE_TYPE_REQUIRED', 'This field is required');
  }

  function distinct(path: Path, list: readonly unknown[] | null | undefined): void {
    for (const index of repeatedIn(list ?? []))
      add([...path, index], 'SET_TYPE_ALREADY_CONTAINS_VALUE', 'The set already contains this value');
  }

  /** @throws 400/50035 if any error was added. */
  function throwIfAny(): void {
    if (found) throw new DiscordError(400, 50035, 'Invalid Form Body', tree);
  }

  return { add, required, distinct, throwIfAny };
}

const make = (status: number, code: number, message: string) => (): DiscordError =>
  new DiscordError(status, code, message);

export const errors = {
  notFound: make(404, 0, '404: Not Found'),
  unauthorized: make(401, 0, '401: Unauthorized'),
  unknownApplication: make(404, 10002, 'Unknown Application'),
  unknownChannel: make(404, 10003, 'Unknown Channel'),
  unknownGuild: make(404, 10004, 'Unknown Guild'),
  unknownMember: make(404, 10007, 'Unknown Member'),
  unknownMessage: make(404, 10008, 'Unknown Message'),
  unknownRole: make(404, 10011, 'Unknown Role'),
  unknownUser: make(404, 10013, 'Unknown User'),
  unknownWebhook: make(404, 10015, 'Unknown Webhook'),
  unknownInteraction: make(404, 10062, 'Unknown interaction'),
  unknownCommand: make(404, 10063, 'Unknown application command'),
  tooManyCommands: (max: number): DiscordError =>
    new DiscordError(400, 30032, `Maximum number of application commands reached (${max}).`),
  alreadyAcknowledged: make(400, 40060, 'Interaction has already been acknowledged.'),
  tooLarge: make(413, 40005, 'Request entity too large'),
  missingAccess: make(403, 50001, 'Missing Access'),
  cannotEditOthers: make(403, 50005, 'Cannot edit a message authored by another user'),
  emptyMessage: make(400, 50006, 'Cannot send an empty message'),
  cannotMessageUser: make(403, 50007, 'Cannot send messages to this user'),
  notATextChannel: make(400, 50008, 'Cannot send messages in a non-text channel'),
  missingPermissions: make(403, 50013, 'Missing Permissions'),
  invalidWebhookToken: make(401, 50027, 'Invalid Webhook Token'),
  invalidJson: make(400, 50109, 'The request body contains invalid JSON.'),
  contentType: (): DiscordError => {
    const types = "{'application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'}";
    const message = `Expected "Content-Type" header to be one of ${types}.`;
    return new DiscordError(400, 50035, 'Invalid Form Body', { _errors: [{ code: 'CONTENT_TYPE_INVALID', message }] });
  },
  threadArchived: make(400, 50083, 'Thread is archived'),
  threadLocked: make(403, 160005, 'Thread is locked'),
};
