import type { Command, Form, Reply } from '../../src/discord/command.ts';
import { chainTitle } from '../../src/domain/network.ts';
import { chainsIn } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { mapValues, NETWORK, offerNetworks } from './networks.ts';
import type { Context } from './services.ts';

const MAX_NAMED = 5;

/** Whether the bot is known not to watch a chain. */
export const isElsewhere = (chainId: number, { networks }: Context['settings']): boolean =>
  networks.every((one) => one.chainId !== null && one.chainId !== chainId);

/**
 * A line about the networks that typed addresses name, such as `matic:0x…`, and that are not this bot's; null: there are
 * none.
 */
export function networkLine(chains: readonly number[], { settings, t }: Context, show = chainTitle): string | null {
  const others = chains.filter((one) => settings.networks.every(({ chainId }) => chainId !== one)).slice(0, MAX_NAMED);
  if (others.length === 0) return null;
  const networks = others.map(show).join(t('reply.comma'));
  const titles = settings.networks.map(({ title }) => title).join(t('reply.comma'));
  const isKnown = others.every((one) => isElsewhere(one, settings));
  return `⚠️ ${isKnown ? t('address.otherChain', { networks, own: titles }) : t('address.chain', { networks })}`;
}

/** A reply with that line about these texts. */
export function withNetworkLine(reply: Reply, texts: readonly string[], context: Context): Reply {
  const line = networkLine(chainsIn(texts.join('\n')), context);
  const [first, ...others] = reply.embeds ?? [];
  if (line === null || !first) return reply;
  return {
    ...reply,
    embeds: [{ ...first, description: [first.description, line].filter(Boolean).join('\n') }, ...others],
  };
}

/** Does something with these texts; a reply or a refusal ends with that line. */
async function naming(texts: readonly string[], context: Context, run: () => Promise<Reply>): Promise<Reply> {
  try {
    return withNetworkLine(await run(), texts, context);
  } catch (error) {
    const line = error instanceof UserError ? networkLine(chainsIn(texts.join('\n')), context) : null;
    throw line === null ? error : new UserError(`${(error as UserError).message}\n${line}`, error as UserError);
  }
}

/**
 * A command whose replies and refusals say so of everything that was typed into it and its forms, and whose option
 * suggests networks.
 */
export function namingNetworks({ execute, autocomplete, forms = {}, ...command }: Command<Context>): Command<Context> {
  const named = ({ submit, ...form }: Form<Context>): Form<Context> => ({
    ...form,
    async submit(interaction, args, context) {
      const texts = [...interaction.fields.fields.values()].flatMap((field) => ('value' in field ? field.value : []));
      return naming(texts.map(String), context, () => submit(interaction, args, context));
    },
  });
  return {
    ...command,
    async execute(interaction, context) {
      const all = interaction.options.data.flatMap((option) => [option, ...(option.options ?? [])]);
      const texts = all.flatMap(({ value }) => (typeof value === 'string' ? value : []));
      return naming(texts, context, () => execute(interaction, context));
    },
    async autocomplete(interaction, context) {
      const isOption = interaction.options.getFocused(true).name === NETWORK;
      return isOption ? offerNetworks(interaction, context) : (autocomplete?.(interaction, context) ?? []);
    },
    forms: mapValues(forms, named),
  };
}
