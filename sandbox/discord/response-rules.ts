/** Which responses Discord accepts for which interaction. */
import { InteractionType } from 'discord.js';
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

const ALLOWED: Record<number, readonly number[]> = {
  [InteractionType.ApplicationCommand]: [4, 5, 9],
  [InteractionType.MessageComponent]: [4, 5, 6, 7, 9],
  [InteractionType.ApplicationCommandAutocomplete]: [8],
  [InteractionType.ModalSubmit]: [4, 5],
};

/** @throws Discord's error when it does not accept this callback. */
export function checkResponse(prepared: Prepared, body: Json, uploads: readonly Upload[], strict: boolean): void {
  const found = createFieldErrors();
  const { source } = prepared;
  const fromMessage = prepared.type === InteractionType.ModalSubmit && source !== null;
  const allowed = [...(ALLOWED[prepared.type] ?? []), ...(fromMessage ? [6, 7] : [])];
  if (body?.type === undefined) found.required(['type']);
  else if (!allowed.includes(body.type))
    found.add(['type'], 'BASE_TYPE_CHOICES', `Value must be one of {${allowed.join(', ')}}.`);
  else if ([4, 8, 9].includes(body.type) && (body.data === undefined || body.data === null)) found.required(['data']);
  found.throwIfAny();
  const data = body.data ?? {};
  if (strict) {
    if (body.type === 4) checkMessage(data, { kind: 'reply', base: ['data'], uploads });
    if (body.type === 7 && source) {
      const { attachments, flags } = source.message;
      const existing = attachments.map(({ id }) => id);
      checkMessage(data, { kind: 'reply-edit', base: ['data'], uploads, existing, flags: flags ?? 0 });
    }
    if (body.type === 8) checkAutocomplete(data, prepared.optionType ?? 3);
    if (body.type === 9) checkModal(data);
  }
  if (body.type === 4 && isEmpty(data, uploads)) throw errors.emptyMessage();
  if (body.type === 7 && source?.deleted) throw errors.unknownMessage();
}
