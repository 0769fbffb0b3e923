import { ApplicationCommandOptionType, ApplicationCommandType } from 'discord.js';
import { pathIn } from '../languages/definitions.ts';
import { LANGUAGES, type Language } from '../languages/languages.ts';
import type { Reply } from './command.ts';
import { MAX_CONTENT, MAX_DESCRIPTION, MAX_FIELD } from './message-limits.ts';

/** What Discord returns for a registered command. */
interface Registered {
  id: string;
  name: string;
  type?: number | undefined;
  options?: { type: number; name: string }[] | undefined;
}

/**
 * Returns a function that turns commands named in a reply, in any language, into clickable mentions: `/setup check`
 * becomes `</setup check:id>`. A text that would become too long for Discord stays as it is.
 */
export function createCommandMentions(registered: readonly Registered[]): (reply: Reply) => Reply {
  const mentions = new Map<string, string>();
  for (const { id, name, type = ApplicationCommandType.ChatInput, options = [] } of registered) {
    if (type !== ApplicationCommandType.ChatInput) continue;
    const subs = options
      .filter((option) => option.type === ApplicationCommandOptionType.Subcommand)
      .map((option) => `${name} ${option.name}`);
    for (const path of subs.length > 0 ? subs : [name]) {
      for (const language of Object.keys(LANGUAGES) as Language[]) {
        mentions.set(pathIn(language, path), `</${path}:${id}>`);
      }
    }
  }
  const withMentions = (text: string, max: number): string => {
    const after = text.replaceAll(/`\/([^`\n]{1,70})`/gu, (code, path: string) => mentions.get(path) ?? code);
    return after.length <= max ? after : text;
  };
  return (reply) => ({
    ...reply,
    ...(reply.content !== undefined && { content: withMentions(reply.content, MAX_CONTENT) }),
    ...(reply.embeds && {
      embeds: reply.embeds.map((embed) => ({
        ...embed,
        ...(embed.description && { description: withMentions(embed.description, MAX_DESCRIPTION) }),
        ...(embed.fields && {
          fields: embed.fields.map((field) => ({ ...field, value: withMentions(field.value, MAX_FIELD) })),
        }),
      })),
    }),
  });
}
