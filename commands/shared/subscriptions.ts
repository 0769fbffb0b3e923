import type { CommandContext } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Store } from '../../src/store/store.ts';
import { type Asker, hiddenFrom } from './visibility.ts';

/** A guild's question that is under way, and the one that follows it. */
interface Asked {
  now: Promise<readonly Subscription[]>;
  next: Promise<readonly Subscription[]> | null;
}

const asked = new WeakMap<Store, Map<string, Asked>>();

/**
 * A guild's subscriptions. They may take megabytes, and the thread that reads them also stores deliveries: all who
 * ask while a question of the same guild is under way share the one that follows it.
 */
export function subscriptionsOf({ store }: Pick<CommandContext, 'store'>, guildId: string): Asked['now'] {
  const servers = asked.get(store) ?? new Map<string, Asked>();
  asked.set(store, servers);
  const begin = (): Asked['now'] => {
    const question: Asked = { now: store.subscriptions.list(guildId), next: null };
    servers.set(guildId, question);
    const end = () => {
      if (question.next === null) servers.delete(guildId);
    };
    question.now.then(end, end);
    return question.now;
  };
  const present = servers.get(guildId);
  if (!present) return begin();
  present.next ??= present.now.then(begin, begin);
  return present.next;
}

/** The guild's subscriptions in channels that this person is known to see, and all others. */
export async function seenBy(
  interaction: Asker & { guildId: string },
  context: CommandContext,
): Promise<{ visible: Subscription[]; unseen: Subscription[] }> {
  const all = await subscriptionsOf(context, interaction.guildId);
  const channels = all.map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  return {
    visible: all.filter(({ channelId }) => !hidden.has(channelId)),
    unseen: all.filter(({ channelId }) => hidden.has(channelId)),
  };
}

/** How many subscriptions were left out because the person does not see their channels; null for none. */
export function unseenLine({ length: count }: readonly Subscription[], t: Translate): string | null {
  return count === 0 ? null : t('subscription.unseen', { count });
}

/** The guild's subscriptions in channels that this person is known to see. */
export async function visibleTo(...asked: Parameters<typeof seenBy>): Promise<Subscription[]> {
  return (await seenBy(...asked)).visible;
}
