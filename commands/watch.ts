import { type APIMessageComponent, ApplicationCommandType, ComponentType } from 'discord.js';
import type { MessageCommand, MessageUse } from '../src/discord/command.ts';
import { DEFAULT_CHOICES } from '../src/domain/subscription.ts';
import { checkTarget } from './shared/channels.ts';
import { withNetworkLine } from './shared/networks.ts';
import type { Context } from './shared/services.ts';
import { offerGroup } from './subscription/group.ts';

export const watchMessage: MessageCommand<Context> = {
  kind: 'message',
  data: { name: 'Watch addresses in this message', type: ApplicationCommandType.Message },
  access: 'manage',
  async execute(interaction, context) {
    const { channelId } = interaction;
    await checkTarget(channelId, null, context);
    const text = textOf(interaction);
    return withNetworkLine(await offerGroup(text, channelId, DEFAULT_CHOICES, false, context), [text], context);
  },
};

/** All visible text of a message, including a forwarded one. */
function textOf({ targetMessage }: MessageUse): string {
  return [targetMessage, ...targetMessage.messageSnapshots.values()].map(textIn).join('\n');
}

type Parts = Pick<MessageUse['targetMessage'], 'content' | 'embeds' | 'components'>;

function textIn({ content, embeds, components }: Parts): string {
  const parts = embeds.flatMap(({ title, description, url, author, footer, fields }) => [
    title,
    description,
    url,
    author?.name,
    footer?.text,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ]);
  const texts = components.flatMap((component) => displaysIn(component.toJSON()));
  return [content, ...parts, ...texts].filter(Boolean).join('\n');
}

function displaysIn(component: APIMessageComponent): string[] {
  if (component.type === ComponentType.TextDisplay) return [component.content];
  return 'components' in component ? component.components.flatMap(displaysIn) : [];
}
