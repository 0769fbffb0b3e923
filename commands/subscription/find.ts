import type { AutocompleteUse, Button, Choice, CommandUse, Reply } from '../../src/discord/command.ts';
import { parseAddress, shortAddress } from '../../src/domain/address.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { isolate } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { nameIn } from '../../src/languages/index.ts';
import { hiddenFrom, visibleTo } from '../shared/channels.ts';
import { faultText, nameOf } from '../shared/names.ts';
import { withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { suggestionError } from '../shared/suggestions.ts';

export async function named(interaction: CommandUse, context: Context): Promise<Subscription> {
  const { t } = context;
  const text = interaction.options.getString('subscription', true).trim();
  const all = await visibleTo(context);
  const id = /^#?(\d{1,15})$/.exec(text)?.[1];
  const numbered = all.filter((subscription) => subscription.id === Number(id));
  const parsed = parseAddress(text);
  const called = ({ address, label }: Subscription) =>
    (parsed.ok && address === parsed.address) || label?.toLowerCase() === text.toLowerCase();
  const found = numbered.length > 0 ? numbered : all.filter(called);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const reason = parsed.ok || parsed.fault === 'form' ? t('subscription.missing') : faultText(parsed.fault, text, t);
    throw suggestionError(reason, text, new Set(all.flatMap(({ label }) => label ?? [])), t);
  }
  const choices = found.slice(0, 20).map((subscription) => {
    const { id, channelId } = subscription;
    return t('subscription.choice', { id, name: nameOf(subscription), channel: `<#${channelId}>` });
  });
  throw withInput(new UserError(t('subscription.several', { choices: choices.join(t('reply.comma')) })), text, t);
}

/** This guild's subscription with a number, if the person sees its channel; throws a {@link UserError} otherwise. */
export async function seenOne(id: string | number | undefined, context: Context): Promise<Subscription> {
  const found = await context.subscriptions.get(context.guildId, Number(id));
  const isSeen = found && (await hiddenFrom(context.interaction, [found.channelId], context)).size === 0;
  if (!isSeen) throw new UserError(context.t('subscription.remove.gone'));
  return found;
}

export function onSubscription(act: (found: Subscription, context: Context) => Promise<Reply>) {
  const button: Button<Context> = {
    response: 'reply',
    press: async (_, [id], context) => act(await seenOne(id, context), context),
  };
  const execute = async (interaction: CommandUse, context: Context): Promise<Reply> =>
    act(await named(interaction, context), context);
  return { execute, button };
}

export async function offer(interaction: AutocompleteUse, context: Context): Promise<Choice[]> {
  const { language, t } = context;
  const typed = interaction.options.getFocused().trim().toLowerCase().replace(/^#/, '');
  const all = await visibleTo(context);
  const everything = { name: t('subscription.all'), value: 'all' };
  const withAll = interaction.options.getSubcommand(false) === 'mute' && 'all'.startsWith(typed);
  const matching = all.filter(({ id, label, address }) =>
    [String(id), label?.toLowerCase() ?? '', address].some((text) => text.includes(typed)),
  );
  const lineOf = ({ id, label, address, channelId, direction }: Subscription): string => {
    const channel = interaction.guild?.channels.cache.get(channelId)?.name;
    const name = nameIn(language, `subscription add direction=${direction}`);
    const parts = [
      label && isolate(label),
      shortAddress(address),
      channel && isolate(`#${channel}`),
      direction === 'any' ? null : name,
    ];
    return `${parts.filter(Boolean).join(' · ')} (#${id})`;
  };
  return [
    ...(withAll ? [everything] : []),
    ...matching.map((subscription) => ({ name: lineOf(subscription), value: String(subscription.id) })),
  ];
}
