import { isDeepStrictEqual } from 'node:util';
import type { ButtonUse, CommandUse, MenuUse, Reply } from '../../src/discord/command.ts';
import type { Choices, Filters, Subscription, SubscriptionChange } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { notNamed } from '../shared/naming.ts';
import { note } from '../shared/reply.ts';
import { requireMention } from '../shared/rights.ts';
import type { ContextWith } from '../shared/services.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import { named, nameOf } from './find.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { chosenBy } from './options.ts';
import { panel, panelRow } from './panel.ts';
import { tokenBook } from './tokens.ts';

/** What changing a subscription needs. */
export type EditNeeds = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'labels'
  | 'projects'
  | 'audit'
  | 'history'
  | 'tokens'
  | 'guildQueue'
  | 'settings'
  | 'now'
  | 'moved'
  | 'onRelabeled'
>;
type Needs = EditNeeds & ContextWith<'confirmations'>;

/** `/subscription edit`. */
export async function edit(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const given = interaction.options.data[0]?.options ?? [];
  if (given.every(({ name }) => name === 'subscription')) return panel(before, context);
  const tokens = await tokenBook(interaction.guildId, context);
  const choices = chosenBy(interaction, context, tokens, before);
  const picked = interaction.options.getChannel('channel');
  if (picked) await checkPlace(interaction, picked.id, picked, context);
  const target = picked && (await placeFor(interaction, picked.id, { ...before, ...choices }, context));
  const wish = { ...choices, ...(target !== null && { channelId: target }) };
  const fields = [await dryRunField({ ...before, ...wish }, interaction, context)];
  const change = onlyChanged(before, wish);
  const same = Object.keys(change).length === 0;
  const after = same ? before : await save(interaction, context, before, change, 'subscription.edit');
  if (after.label !== before.label) await context.onRelabeled(after.guildId, [after.address]);
  const lines = [addressLine(after.address, context), ...summary(after, context, tokens)];
  const rest = { fields, components: [panelRow(after, context)] };
  if (same) return note('info', t('subscription.edit.same'), lines, rest);
  return note('good', t('subscription.edit.title', { name: nameOf(after) }), lines, rest);
}

/** `/subscription pause` and `resume`. */
export async function pause(interaction: CommandUse, context: EditNeeds, paused: boolean): Promise<Reply> {
  const { t } = context;
  const before = await named(interaction, context);
  const action = paused ? 'subscription.pause' : 'subscription.resume';
  const after = await save(interaction, context, before, { paused }, action);
  const name = nameOf(after);
  const address = addressLine(after.address, context);
  if (paused) return note('good', t('subscription.pause.title', { name }), [address, t('subscription.pause.meaning')]);
  const tokens = await tokenBook(interaction.guildId, context);
  return note('good', t('subscription.pause.resumed', { name }), [address, ...summary(after, context, tokens)]);
}

/** The difference between two choices, filter by filter, so that simultaneous changes by others stay. */
export function onlyChanged<Wish extends Pick<Choices, 'filters'>>(
  before: Wish,
  wish: Wish,
): Partial<Omit<Wish, 'filters'>> & { filters?: Partial<Filters> } {
  const { filters, ...rest } = wish;
  const changed = differences(before, rest);
  const narrower = differences(before.filters, filters);
  return { ...changed, ...(Object.keys(narrower).length > 0 && { filters: narrower }) };
}

function differences<Wish extends object>(before: Wish, wish: Wish): Partial<Wish> {
  const changed = Object.entries(wish).filter(([key, value]) => !isDeepStrictEqual(before[key as keyof Wish], value));
  return Object.fromEntries(changed) as Partial<Wish>;
}

/** The fields for pings and their frequency: changing these needs the right to ping. */
export const PINGS = ['mention', 'mentionMinimum', 'mentionCooldown'] as const;

/** Changes a subscription and records it in the audit log; throws a {@link UserError} if that is impossible. */
export async function save(
  interaction: CommandUse | ButtonUse | MenuUse,
  context: ContextWith<'subscriptions' | 'audit' | 'settings' | 'now'>,
  before: Subscription,
  change: SubscriptionChange,
  action: string,
): Promise<Subscription> {
  const { subscriptions, t } = context;
  const after = { ...before, ...change };
  const isOtherPing = PINGS.some((key) => after[key] !== before[key]) || after.channelId !== before.channelId;
  if (isOtherPing) requireMention(interaction, after.mention, after.channelId, t);
  const outcome = await subscriptions.change(interaction.guildId, before.id, change, {
    userId: interaction.user.id,
    at: context.now(),
  });
  switch (outcome.status) {
    case 'missing':
      throw new UserError(t('subscription.edit.gone'));
    case 'exists': {
      const { channelId, id } = outcome.subscription;
      throw new UserError(t('subscription.edit.exists', { channel: `<#${channelId}>`, id }));
    }
    case 'label-taken':
    case 'labels-full':
      throw notNamed(outcome, context);
    case 'changed':
      await record(interaction, context, action, { id: before.id, ...change });
      return outcome.subscription;
  }
}
