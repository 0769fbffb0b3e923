/** The package ships these schemas without types. These are the ones in use. */
declare module 'discord-api-spec/zod' {
  import type { ZodMiniType } from 'zod/mini';

  export const MessageCreateRequestSchema: ZodMiniType;
  export const MessageEditRequestPartialSchema: ZodMiniType;
  export const IncomingWebhookInteractionRequestSchema: ZodMiniType;
  export const IncomingWebhookUpdateForInteractionCallbackRequestPartialSchema: ZodMiniType;
  export const ModalInteractionCallbackRequestDataSchema: ZodMiniType;
  export const ApplicationCommandCreateRequestSchema: ZodMiniType;
  export const ApplicationCommandPatchRequestPartialSchema: ZodMiniType;
  export const ApplicationCommandUpdateRequestSchema: ZodMiniType;
  export const InteractionApplicationCommandAutocompleteCallbackStringDataSchema: ZodMiniType;
  export const InteractionApplicationCommandAutocompleteCallbackIntegerDataSchema: ZodMiniType;
  export const InteractionApplicationCommandAutocompleteCallbackNumberDataSchema: ZodMiniType;
  export const CreateTextThreadWithMessageRequestSchema: ZodMiniType;
  export const CreateTextThreadWithoutMessageRequestSchema: ZodMiniType;
  export const CreateForumThreadRequestSchema: ZodMiniType;
  export const UpdateThreadRequestPartialSchema: ZodMiniType;
}
