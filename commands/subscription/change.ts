import type { CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { SubscriptionChange } from '../../src/store/subscriptions.ts';
import { checkTarget } from '../parts/channel.ts';
import { ago, count, fullAddress, note } from '../parts/reply.ts';
import { describe, readFilters } from './filters.ts';
import { named } from './find.ts';

const HOUR_MS = 3_600_000;
const DURATIONS: Record<string, number> = { '1h': HOUR_MS, '8h': 8 * HOUR_MS, '1d': 24 * HOUR_MS, '7d': 168 * HOUR_MS };

/** What `/subscription mute` offers. */
export const MUTE_CHOICES = [...Object.keys(DURATIONS), 'off'];

/** `/subscription edit`. */
export async function edit(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const before = await named(interaction, context);
  const filters = readFilters(context.t, interaction, before);
  const picked = interaction.options.getChannel('channel');
  if (picked) checkTarget(interaction, picked.id, picked);
  const after = await save(interaction, context, before, { ...filters, ...(picked && { channelId: picked.id }) });
  const { settings } = context;
  return note('good', `✏️ Changed ${inCode(after.label, `subscription ${after.id}`)}`, [
    fullAddress(after.address, settings),
    `Alerts go to <#${after.channelId}>: ${describe(after, settings)}.`,
  ]);
}

/** `/subscription pause` and `resume`. */
export async function pause(interaction: CommandUse, context: CommandContext, paused: boolean): Promise<Reply> {
  const before = await named(interaction, context);
  const after = await save(interaction, context, before, { paused });
  const words = paused
    ? ['⏸️ Paused', 'Nothing is told until `/subscription resume`. What happens meanwhile is not told later.']
    : ['▶️ Resumed', `Alerts go to <#${after.channelId}> again: ${describe(after, context.settings)}.`];
  return note('good', `${words[0]} ${inCode(after.label, `subscription ${after.id}`)}`, [
    fullAddress(after.address, context.settings),
    words[1]!,
  ]);
}

/** `/subscription mute`: one or all, for a while or no longer. */
export async function mute(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const { store, settings, now } = context;
  const duration = interaction.options.getString('duration', true);
  const length = DURATIONS[duration];
  const until = length === undefined ? null : now() + length;
  const lasting = until === null ? 'Alerts are told again from now on.' : `Nothing is told; it ends ${ago(until)}.`;
  if (interaction.options.getString('subscription', true).trim().toLowerCase() !== 'all') {
    const after = await save(interaction, context, await named(interaction, context), { mutedUntil: until });
    return note(
      'good',
      `${until === null ? '🔔 Unmuted' : '🔕 Muted'} ${inCode(after.label, `subscription ${after.id}`)}`,
      [fullAddress(after.address, settings), lasting],
    );
  }
  const changed = await store.subscriptions.muteAll(interaction.guildId, until);
  if (changed === 0) throw new UserError('This server watches nothing yet, so there is nothing to mute.');
  await record(interaction, context, 'subscription.mute', { all: true, until });
  return note('good', `${until === null ? '🔔 Unmuted' : '🔕 Muted'} ${count(changed, 'subscription')}`, [lasting]);
}

async function save(
  interaction: CommandUse,
  context: CommandContext,
  before: Subscription,
  change: SubscriptionChange,
): Promise<Subscription> {
  const outcome = await context.store.subscriptions.change(interaction.guildId, before.id, change);
  switch (outcome.status) {
    case 'missing':
      throw new UserError('Somebody removed this subscription just now. See what is left with `/subscription list`.');
    case 'exists':
      throw new UserError(
        `<#${outcome.subscription.channelId}> already watches this address (number ${outcome.subscription.id}). ` +
          'Change that one, or remove one of the two.',
      );
    case 'changed':
      await record(interaction, context, `subscription.${interaction.options.getSubcommand()}`, {
        id: before.id,
        ...change,
      });
      return outcome.subscription;
  }
}

function record(interaction: CommandUse, { store, now }: CommandContext, action: string, detail: unknown) {
  return store.servers.record({
    guildId: interaction.guildId,
    userId: interaction.user.id,
    action,
    detail,
    at: now(),
  });
}
