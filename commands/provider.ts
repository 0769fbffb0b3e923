import type { ButtonUse, Command, CommandUse, Reply } from '../src/discord/command.ts';
import { isLinkable } from '../src/domain/text.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import type { Discovery, ProviderQuery } from '../src/upstream/discovery.ts';
import { CHOICES_MS, groupProviders, linksOf, namesIn, offerProviders, sectionOf } from './provider/show.ts';
import { linkButton, pager, rows } from './shared/components.ts';
import { integer, same, text, withSubcommands } from './shared/define.ts';
import { explain, notConfigured } from './shared/failure.ts';
import { countLookUp } from './shared/fair-use.ts';
import { networkOption, perNetwork } from './shared/networks.ts';
import { embedReply, listInCode, pageOf, quoted, thirdPartyName, withInput } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { choicesWith, suggestionError } from './shared/suggestions.ts';

const NETWORK_OPTION = networkOption('The network whose directory is searched (default: the first)');

const PER_PAGE = 5;
/** Discord's limit, with room for the mark of a network. */
const MAX_PAGE_ID = 90;
const CATEGORY = /^[\w-]{1,50}$/;

const keyOf = (typed: string | null, keys: readonly string[]): string =>
  keys.find((key) => key.toLowerCase() === typed?.trim().toLowerCase()) ?? typed?.trim() ?? '';

export const provider = perNetwork<Command<Context>>({
  section: 'lookUp',
  ...withSubcommands('provider', 'Find infrastructure providers: RPC, oracles, wallets and more', {
    search: {
      description: 'Search for providers in a category',
      access: 'all',
      options: [
        text('category', 'Category of providers', { required: true, autocomplete: true, max_length: 50 }),
        text('search', 'Words to search for', { max_length: 32 }),
        text('provider', 'Only these providers, by their exact names, separated by commas', {
          autocomplete: true,
          max_length: 400,
        }),
        integer('page', 'Page number, starting at 1', 1, 1_000),
        NETWORK_OPTION,
      ],
      execute: (interaction, context) => search(interaction, context),
    },
    categories: {
      description: 'List the provider categories',
      access: 'all',
      options: [NETWORK_OPTION],
      execute: (_, context) => categories(discoveryOf(context), context.t),
    },
  }),
  public: true,
  anywhere: true,
  async autocomplete(interaction, context) {
    const discovery = ofNetwork(context);
    if (!discovery) return [];
    const typed = interaction.options.getFocused();
    const { keys } = await discovery.categories(CHOICES_MS);
    if (interaction.options.getFocused(true).name === 'provider') {
      const category = keyOf(interaction.options.getString('category'), keys);
      return keys.includes(category) ? offerProviders(typed, category, discovery, context) : [];
    }
    return choicesWith(typed, same(...keys));
  },
  buttons: {
    page: {
      access: 'all',
      anywhere: true,
      async press(_: ButtonUse, [category = '', page = '0', words = '', only = ''], context) {
        const discovery = discoveryOf(context);
        const kept = discovery.kept(category);
        if (!kept && !CATEGORY.test(category)) throw new UserError(context.own('provider.oldPage'));
        const query = kept ?? { category, search: decode(words), providers: namesIn(decode(only)) };
        return results(query, Number(page), discovery, context);
      },
    },
  },
});

/** Without a chosen network, the first directory that there is. */
const ofNetwork = ({ discovery, network, networks }: Pick<Context, 'discovery' | 'network' | 'networks'>) =>
  discovery ??
  (network === networks[0]!.network ? networks.slice(1).find((network) => network.discovery)?.discovery : null);

function discoveryOf({ own, ...context }: Context): Discovery {
  const discovery = ofNetwork(context);
  if (!discovery) throw notConfigured(own, 'discovery', 'DISCOVERY_URL');
  return discovery;
}

async function categories(discovery: Discovery, t: Translate): Promise<Reply> {
  const { keys, live } = await discovery.categories();
  return embedReply('info', t('provider.categories', { count: keys.length }), [
    ...keys.map((key) => `\`${key}\``),
    live ? null : t('provider.notLive'),
    `-# ${t('provider.useSearch')}`,
  ]);
}

async function search(interaction: CommandUse, context: Context): Promise<Reply> {
  const { options } = interaction;
  const { own } = context;
  const discovery = discoveryOf(context);
  const typed = options.getString('category', true).trim();
  const { keys, live } = await discovery.categories(CHOICES_MS);
  const category = keyOf(typed, keys);
  if (!CATEGORY.test(category) || (live && !keys.includes(category))) {
    const reason = own('provider.noCategory', { typed: quoted(typed), categories: listInCode(keys, own) });
    throw suggestionError(reason, typed, keys, own);
  }
  const providers = namesIn(options.getString('provider'));
  const query = { category, search: options.getString('search')?.trim() || null, providers };
  const count = () => countLookUp('discovery', context);
  return results(query, (options.getInteger('page') ?? 1) - 1, discovery, context, count);
}

/** `count` counts a lookup, which turning a page is not. */
async function results(
  query: ProviderQuery,
  wanted: number,
  discovery: Discovery,
  { t, own }: Context,
  count?: () => void,
): Promise<Reply> {
  const response = await discovery.rows(query, count);
  if (response.status !== 'ok') {
    const refusal = new UserError(explain(own, response, 'discovery'));
    throw response.status === 'rejected' ? withInput(refusal, wordsOf(query), own) : refusal;
  }
  const found = groupProviders(response.rows);
  const directoryUrl = discovery.directoryUrl(query.category, query.search);
  const browse = isLinkable(directoryUrl) ? [linkButton(t('provider.browse'), directoryUrl)] : [];
  const asked = [query.search, query.providers[0]].flatMap((text) => (text ? [thirdPartyName(t, text, '')] : []));
  const title = [query.category, ...asked].join(' · ');
  if (found.length === 0) return embedReply('info', title, [t('provider.none')], { components: rows(browse) });
  const { page, pages, shown } = pageOf(found, PER_PAGE, wanted);
  const beyond = wanted > page ? [t('provider.beyond', { page: wanted + 1, pages })] : [];
  const numbered = shown.map((provider, index) => ({ provider, number: page * PER_PAGE + index + 1 }));
  const rest = `${encode(query.search)}:${encode(query.providers[0] ?? null)}`;
  const turn = pager(t, page, pages, (to) => {
    const id = `provider:page:${query.category}:${to}:${rest}`;
    return id.length > MAX_PAGE_ID ? `provider:page:${discovery.keep(query)}:${to}` : id;
  });
  // One row of links: a phone shows each on its own line.
  const links = numbered.flatMap(({ provider, number }) =>
    linksOf(t, provider, number, Math.floor(PER_PAGE / shown.length)),
  );
  const lines = [...beyond, ...numbered.flatMap(({ provider, number }) => sectionOf(t, provider, number))];
  if (!response.complete) lines.push(`-# ${t('provider.incomplete')}`);
  return embedReply('info', title, lines, {
    footer: { text: t('provider.found', { count: found.length, page: page + 1, pages }) },
    components: rows([...turn, ...browse], links),
  });
}

const wordsOf = ({ category, search, providers }: ProviderQuery): string =>
  [category, search, providers[0]].filter(Boolean).join(' · ');

/** Colons separate the parts of a custom ID, and the last one may name a network by `@`. */
const encode = (text: string | null) =>
  (text ?? '').replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll('@', '%40');
const decode = (text: string) => text.replaceAll('%3A', ':').replaceAll('%40', '@').replaceAll('%25', '%') || null;
