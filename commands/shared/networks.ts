import type { APIButtonComponent } from 'discord.js';
import { namesOfFile } from '../../src/config/networks.ts';
import type { AutocompleteUse, Choice, Command, CommandUse, Form, FormData, Reply } from '../../src/discord/command.ts';
import { chainsIn } from '../../src/domain/address.ts';
import { chainTitle } from '../../src/domain/network.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { cutTo } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { row } from './components.ts';
import { text } from './define.ts';
import type { CommandServices, CommandSettings, Context, NetworkServices } from './services.ts';
import { choicesWith, suggestionError } from './suggestions.ts';

type OnNetwork = Pick<CommandServices, 'network' | 'networks' | 'settings'>;
type Typed = Pick<CommandUse | AutocompleteUse, 'options'>;

/** The commands that act on one network, by default the first; their buttons carry it. */
const PER_NETWORK = ['webhook', 'setup', 'provider'];
export const NETWORK = 'network';
export const networkOption = (description: string) =>
  text(NETWORK, description, { autocomplete: true, max_length: 100 });

export const hasSeveral = ({ networks }: Pick<CommandSettings, 'networks'>): boolean => networks.length > 1;

export const hasNode = ({ networks }: Pick<CommandSettings, 'networks'>, network: number | null): boolean =>
  networks.some((other) => other.hasNode && (network === null || other.id === network));

/** Also of one that is no longer configured. */
export const titleOf = (id: number, { networks }: Pick<CommandSettings, 'networks'>): string =>
  networks.find((network) => network.id === id)?.title ?? `#${id}`;

/** Empty if that network is no longer configured. */
export function eachNetwork<Given extends Context>(context: Given, only: number | null = null): Given[] {
  if (!hasSeveral(context.settings)) return [context];
  const those = context.networks.filter(({ network }) => only === null || network.id === only);
  return those.map((own) => ({ ...context, ...own }));
}

export const watchedHere = <Watched extends Pick<Subscription, 'network'>>(
  all: readonly Watched[],
  { network }: Pick<NetworkServices, 'network'>,
): Watched[] => all.filter((subscription) => subscription.network === null || subscription.network === network.id);

export const onNetwork = <Given extends Context>(context: Given, id: number | null): Given =>
  id === null ? context : (eachNetwork(context, id)[0] ?? context);

/** Reads a name, title or chain ID. null: none, or any. Throws a {@link UserError}. */
export function typedNetwork(typed: string | null, { settings, t }: Context): number | null {
  const { networks: all } = settings;
  const wanted = typed?.trim().toLowerCase() ?? '';
  if (wanted === '' || wanted === 'any' || !hasSeveral(settings)) return null;
  const found = all.find((network) =>
    [network.name, network.title.toLowerCase(), String(network.chainId)].includes(wanted),
  );
  if (found) return found.id;
  const names = all.map(({ name }) => name);
  throw suggestionError(t('chain.unknownNetwork', { networks: names.join(t('reply.comma')) }), typed!, names, t);
}

export const pickedNetwork = ({ options }: Typed, context: Context): number | null =>
  typedNetwork(options.getString(NETWORK), context);

function offerNetworks({ commandName, options }: AutocompleteUse, { settings, t }: Context): Choice[] {
  const any = PER_NETWORK.includes(commandName) ? [] : [{ name: t('chain.anyNetwork'), value: 'any' }];
  return choicesWith(options.getFocused(), [
    ...any,
    ...settings.networks.map(({ title, name }) => ({ name: title, value: name })),
  ]);
}

/** Where there are several networks: names this one, and settings as in their file. */
export const ofNetwork = (
  line: string,
  { settings, network }: Pick<NetworkServices, 'settings' | 'network'>,
): string => (hasSeveral(settings) ? `**${network.title}**: ${namesOfFile(line)}` : line);

/** Marks the network in a custom ID; the first network has no mark, as before there were several. */
const marked = (customId: string, { network, networks }: OnNetwork): string =>
  network.id === networks[0]!.network.id || /:@\d+$/.test(customId) ? customId : `${customId}:@${network.id}`;

/** Discord's limits. */
const MAX_CUSTOM_ID = 100;
const MAX_LABEL = 80;

export function marking<Row extends NonNullable<Reply['components']>[number]>(
  rows: readonly Row[],
  context: OnNetwork,
): Row[] {
  const mark = <Part extends object>(part: Part): Part =>
    'custom_id' in part && PER_NETWORK.includes(String(part.custom_id).split(':', 1)[0]!)
      ? { ...part, custom_id: marked(String(part.custom_id), context) }
      : part;
  const fits = (part: object) => !('custom_id' in part) || String(part.custom_id).length <= MAX_CUSTOM_ID;
  return rows
    .map((row) => ({ ...row, components: (row.components as object[]).map(mark).filter(fits) }) as Row)
    .filter(({ components }) => components.length > 0);
}

/** Empty if the custom ID would be too long. */
export function namedButton(shown: APIButtonComponent, context: OnNetwork): APIButtonComponent[] {
  if (!hasSeveral(context.settings) || !('label' in shown)) return [shown];
  const label = cutTo(`${shown.label} · ${context.network.title}`, MAX_LABEL);
  const [own] = marking([row({ ...shown, label })], context);
  return own ? own.components : [];
}

export function naming(reply: Reply, context: OnNetwork): Reply {
  const [first, ...others] = reply.embeds ?? [];
  if (!first || !hasSeveral(context.settings)) return reply;
  return { ...reply, embeds: [{ author: { name: context.network.title }, ...first }, ...others] };
}

/** Runs a handler on the context's network: its reply names it, its buttons or form go on with it, a refusal names it. */
async function onOne<Result extends Reply | FormData>(
  context: OnNetwork,
  handle: () => Promise<Result>,
): Promise<Result> {
  try {
    const result: Reply | FormData = await handle();
    if ('custom_id' in result) return { ...result, custom_id: marked(result.custom_id, context) } as Result;
    const { components } = result;
    return naming({ ...result, ...(components && { components: marking(components, context) }) }, context) as Result;
  } catch (error) {
    throw error instanceof UserError ? new UserError(ofNetwork(error.message, context), error) : error;
  }
}

const mapValues = <Value, Result>(values: Record<string, Value>, change: (value: Value) => Result) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** The network is the one that the option or the pressed button names, or else the first. */
export function perNetwork<Parts extends Partial<Command<Context>>>(parts: Parts): Parts {
  const picked = (interaction: Typed, given: Context) => onNetwork(given, pickedNetwork(interaction, given));
  const typed =
    <Result extends Reply | FormData>(handle: (interaction: CommandUse, context: Context) => Promise<Result>) =>
    async (interaction: CommandUse, given: Context) => {
      const context = picked(interaction, given);
      return onOne(context, () => handle(interaction, context));
    };
  type Handler = (interaction: never, args: string[], context: Context, values?: string[]) => Promise<Reply | FormData>;
  const pressed =
    (handle: Handler): Handler =>
    async (interaction, args, given, values) => {
      const id = /^@(\d+)$/.exec(args.at(-1) ?? '')?.[1];
      const context = id === undefined ? given : onNetwork(given, Number(id));
      return onOne(context, () => handle(interaction, id === undefined ? args : args.slice(0, -1), context, values));
    };
  const wrapped = (part: object) =>
    mapValues({ ...part }, (value) => (typeof value === 'function' ? pressed(value as Handler) : value));
  const { execute, autocomplete, opens, buttons, menus, forms } = parts;
  return {
    ...parts,
    ...(execute && { execute: typed(execute) }),
    ...(autocomplete && {
      autocomplete: async (interaction: AutocompleteUse, context: Context) =>
        autocomplete(interaction, picked(interaction, context)),
    }),
    ...(opens && { opens: mapValues(opens, typed) }),
    ...(buttons && { buttons: mapValues(buttons, wrapped) }),
    ...(menus && { menus: mapValues(menus, wrapped) }),
    ...(forms && { forms: mapValues(forms, wrapped) }),
  };
}

const MAX_NAMED = 5;

/** Whether the bot is known not to watch a chain. */
export const isElsewhere = (chainId: number, { networks }: Context['settings']): boolean =>
  networks.every((network) => network.chainId !== null && network.chainId !== chainId);

/** Names the networks of typed addresses, such as `matic:0x…`, that are not this bot's; null: there are none. */
export function networkLine(chains: readonly number[], { settings, t }: Context, show = chainTitle): string | null {
  const others = chains
    .filter((chain) => settings.networks.every(({ chainId }) => chainId !== chain))
    .slice(0, MAX_NAMED);
  if (others.length === 0) return null;
  const networks = others.map(show).join(t('reply.comma'));
  const titles = settings.networks.map(({ title }) => title).join(t('reply.comma'));
  const isKnown = others.every((chainId) => isElsewhere(chainId, settings));
  return `⚠️ ${isKnown ? t('address.otherChain', { networks, own: titles }) : t('address.chain', { networks })}`;
}

export function withNetworkLine(reply: Reply, texts: readonly string[], context: Context): Reply {
  const line = networkLine(chainsIn(texts.join('\n')), context);
  const [first, ...others] = reply.embeds ?? [];
  if (line === null || !first) return reply;
  return {
    ...reply,
    embeds: [{ ...first, description: [first.description, line].filter(Boolean).join('\n') }, ...others],
  };
}

async function withChains(texts: readonly string[], context: Context, run: () => Promise<Reply>): Promise<Reply> {
  try {
    return withNetworkLine(await run(), texts, context);
  } catch (error) {
    const line = error instanceof UserError ? networkLine(chainsIn(texts.join('\n')), context) : null;
    throw line === null ? error : new UserError(`${(error as UserError).message}\n${line}`, error as UserError);
  }
}

/** Replies and refusals name the foreign networks of everything that was typed; the option suggests networks. */
export function namingNetworks({ execute, autocomplete, forms = {}, ...command }: Command<Context>): Command<Context> {
  const named = ({ submit, ...form }: Form<Context>): Form<Context> => ({
    ...form,
    async submit(interaction, args, context) {
      const texts = [...interaction.fields.fields.values()].flatMap((field) => ('value' in field ? field.value : []));
      return withChains(texts.map(String), context, () => submit(interaction, args, context));
    },
  });
  return {
    ...command,
    async execute(interaction, context) {
      const all = interaction.options.data.flatMap((option) => [option, ...(option.options ?? [])]);
      const texts = all.flatMap(({ value }) => (typeof value === 'string' ? value : []));
      return withChains(texts, context, () => execute(interaction, context));
    },
    async autocomplete(interaction, context) {
      const isOption = interaction.options.getFocused(true).name === NETWORK;
      return isOption ? offerNetworks(interaction, context) : (autocomplete?.(interaction, context) ?? []);
    },
    forms: mapValues(forms, named),
  };
}
