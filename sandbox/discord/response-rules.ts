/** Which responses Discord accepts for which interaction. */
import { ApplicationCommandOptionType, InteractionType, InteractionResponseType as Response } from 'discord.js';
import { checkAutocomplete } from './command-rules.ts';
import type { MessageState } from './control.ts';
import { createFieldErrors, errors } from './errors.ts';
import { checkMessage, checkModal, isEmpty, type Upload } from './message-rules.ts';
import type { Json } from './validate.ts';

/** An interaction ready for the gateway: its part of the payload, and what the rules need later. */
export interface Prepared {
  type: InteractionType;
  name: string;
  payload: Json;
  /** The message that the component, or the component behind the form, is on. */
  source: MessageState | null;
  /** The type of the option being completed. */
  optionType?: number;
}

const REPLIES = [Response.ChannelMessageWithSource, Response.DeferredChannelMessageWithSource];
const UPDATES = [Response.DeferredMessageUpdate, Response.UpdateMessage];
const ALLOWED: Record<InteractionType, readonly Response[]> = {
  [InteractionType.Ping]: [],
  [InteractionType.ApplicationCommand]: [...REPLIES, Response.Modal],
  [InteractionType.MessageComponent]: [...REPLIES, ...UPDATES, Response.Modal],
  [InteractionType.ApplicationCommandAutocomplete]: [Response.ApplicationCommandAutocompleteResult],
  [InteractionType.ModalSubmit]: REPLIES,
};
const WITH_DATA: readonly Response[] = [
  Response.ChannelMessageWithSource,
  Response.ApplicationCommandAutocompleteResult,
  Response.Modal,
];

/** @throws Discord's error when it does not accept this callback. */
export function checkResponse(prepared: Prepared, body: Json, uploads: readonly Upload[], strict: boolean): void {
  const found = createFieldErrors();
  const { source } = prepared;
  const fromMessage = prepared.type === InteractionType.ModalSubmit && source !== null;
  const allowed = [...ALLOWED[prepared.type], ...(fromMessage ? UPDATES : [])];
  const type = body?.type as Response | undefined;
  if (type === undefined) found.required(['type']);
  else if (!allowed.includes(type))
    found.add(['type'], 'BASE_TYPE_CHOICES', `Value must be one of {${allowed.join(', ')}}.`);
  else if (WITH_DATA.includes(type) && (body.data === undefined || body.data === null)) found.required(['data']);
  found.throwIfAny();
  const data = body.data ?? {};
  if (strict) {
    if (type === Response.ChannelMessageWithSource) checkMessage(data, { kind: 'reply', base: ['data'], uploads });
    if (type === Response.UpdateMessage && source) {
      const { attachments, flags } = source.message;
      const existing = attachments.map(({ id }) => id);
      checkMessage(data, { kind: 'reply-edit', base: ['data'], uploads, existing, flags: flags ?? 0 });
    }
    if (type === Response.ApplicationCommandAutocompleteResult)
      checkAutocomplete(data, prepared.optionType ?? ApplicationCommandOptionType.String);
    if (type === Response.Modal) checkModal(data);
  }
  if (type === Response.ChannelMessageWithSource && isEmpty(data, uploads)) throw errors.emptyMessage();
  if (type === Response.UpdateMessage && source?.deleted) throw errors.unknownMessage();
}
