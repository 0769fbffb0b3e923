import type { Subscription } from '../../src/domain/subscription.ts';
import type { Translate } from '../../src/languages/index.ts';
import { titleName } from './naming.ts';
import { shortAddress } from './reply.ts';
import type { ContextWith } from './services.ts';
import { type Asker, hiddenFrom } from './visibility.ts';

type Needs = ContextWith<'guildChannels' | 'subscriptions'>;

/** The guild's subscriptions: those in channels that the person is known to see, and the others. */
export async function seenBy(
  interaction: Asker & { guildId: string },
  context: Needs,
): Promise<{ visible: Subscription[]; unseen: Subscription[] }> {
  const all = await context.subscriptions.list(interaction.guildId);
  const channels = all.map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  return {
    visible: all.filter(({ channelId }) => !hidden.has(channelId)),
    unseen: all.filter(({ channelId }) => hidden.has(channelId)),
  };
}

/** A line about subscriptions that are omitted because the person does not see their channels; null: none. */
export function unseenLine({ length: count }: readonly Subscription[], t: Translate): string | null {
  return count === 0 ? null : t('subscription.unseen', { count });
}

/** The guild's subscriptions in channels that this person is known to see. */
export async function visibleTo(interaction: Asker & { guildId: string }, context: Needs): Promise<Subscription[]> {
  return (await seenBy(interaction, context)).visible;
}

/** A subscription's short name: its label, or its shortened address. */
export function nameOf({ label, address }: Pick<Subscription, 'label' | 'address'>): string {
  return titleName(label, `\`${shortAddress(address)}\``);
}
