import { pathIn } from '../languages/definitions.ts';
import { LANGUAGES, type Language } from '../languages/languages.ts';
import type { Reply } from './command.ts';

/** What Discord returns for a registered command. */
interface Registered {
  id: string;
  name: string;
  type?: number | undefined;
  options?: { type: number; name: string }[] | undefined;
}

const SUBCOMMAND = 1;
const DESCRIPTION_MAX = 4_096;
const FIELD_MAX = 1_024;
const CONTENT_MAX = 2_000;

/**
 * Returns a function that turns commands named in a reply, in any language, into clickable mentions: `/setup check`
 * becomes `</setup check:id>`. A text that would become too long for Discord stays as it is.
 */
export function createMentions(registered: readonly Registered[]): (reply: Reply) => Reply {
  const mentions = new Map<string, string>();
  for (const { id, name, type = 1, options = [] } of registered) {
    if (type !== 1) continue;
    const subs = options.filter((option) => option.type === SUBCOMMAND).map((option) => `${name} ${option.name}`);
    for (const path of subs.length > 0 ? subs : [name]) {
      for (const language of Object.keys(LANGUAGES) as Language[]) {
        mentions.set(pathIn(language, path), `</${path}:${id}>`);
      }
    }
  }
  const linked = (text: string, most: number): string => {
    const after = text.replaceAll(/`\/([^`\n]{1,70})`/gu, (code, path: string) => mentions.get(path) ?? code);
    return after.length <= most ? after : text;
  };
  return (reply) => ({
    ...reply,
    ...(reply.content !== undefined && { content: linked(reply.content, CONTENT_MAX) }),
    ...(reply.embeds && {
      embeds: reply.embeds.map((embed) => ({
        ...embed,
        ...(embed.description && { description: linked(embed.description, DESCRIPTION_MAX) }),
        ...(embed.fields && {
          fields: embed.fields.map((field) => ({ ...field, value: linked(field.value, FIELD_MAX) })),
        }),
      })),
    }),
  });
}
