import { type APIMessage, type APIMessageTopLevelComponent, ComponentType } from 'discord.js';

export interface Shown {
  /** The embed's title, or the text's first line without links and bold type. */
  title: string;
  text: string;
}

export const textsOf = (list: readonly APIMessageTopLevelComponent[] = []): string[] =>
  list.flatMap((one) => {
    if (one.type === ComponentType.TextDisplay) return [one.content];
    return one.type === ComponentType.Section ? one.components.map(({ content }) => content) : [];
  });

/** A text as people read it: without links and bold type. */
export const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('**', '');

/** The text of a message, one entry per transaction. Above embeds, the content repeats their headlines. */
export function shownIn({ content, embeds, components }: Shows): Shown[] {
  const texts = embeds.length === 0 && content ? content.split(/\n(?!-# )/) : [];
  return [
    ...embeds.map((embed) => ({ title: embed.title ?? '', text: JSON.stringify(embed) })),
    ...[...texts, ...textsOf(components)].map((text) => ({ title: plain(text.split('\n')[0]!), text })),
  ];
}

type Shows = Pick<APIMessage, 'embeds' | 'components'> & { content?: string };

/** The whole text of a message, with the targets of links. */
export const textOf = (message: Shows): string =>
  [message.embeds.length > 0 ? message.content : '', ...shownIn(message).map(({ text }) => text)].join('\n');
