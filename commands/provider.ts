import type { ButtonUse, Command, CommandUse, Reply } from '../src/discord/command.ts';
import { isLinkable } from '../src/domain/text.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import type { Discovery, ProviderQuery } from '../src/upstream/discovery.ts';
import { closestProvider, decodeNames, encodeNames, namesIn, offerProviders } from './provider/names.ts';
import { groupProviders, linksOf, sectionOf } from './provider/show.ts';
import { choicesWith } from './shared/choices.ts';
import { linkButton, pager, rows } from './shared/components.ts';
import { countLookUp } from './shared/cooldown.ts';
import { bySubcommand, defineAnywhere } from './shared/define.ts';
import { explain, notConfigured } from './shared/failure.ts';
import { embedReply, listInCode, pageOf, quoted, thirdPartyName, withInput } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { suggestionError } from './shared/suggestions.ts';

type Needs = ContextWith<'discovery' | 'cooldown' | 'after'>;

const PER_PAGE = 5;
/** How long choices wait for the service. After that, the last known or the specified categories are offered. */
const CHOICES_MS = 1_000;
/** How many categories one line lists. */
const KEYS_PER_LINE = 20;
const CATEGORY = /^[\w-]{1,50}$/;
/** Maximum characters of a provider's name in a custom ID, which has at most 100. */
const MAX_NAME = 24;

/** A category as the directory writes it. */
const keyOf = (typed: string | null, keys: readonly string[]): string =>
  keys.find((key) => key.toLowerCase() === typed?.trim().toLowerCase()) ?? typed?.trim() ?? '';

/** `/provider`: the directory of infrastructure providers. */
export const provider = {
  data: defineAnywhere('provider', 'Find infrastructure providers: RPC, oracles, wallets and more')
    .addSubcommand((command) =>
      command
        .setName('search')
        .setDescription('Search for providers in a category')
        .addStringOption((option) =>
          option
            .setName('category')
            .setDescription('Category of providers')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(50),
        )
        .addStringOption((option) => option.setName('search').setDescription('Words to search for').setMaxLength(32))
        .addStringOption((option) =>
          option
            .setName('provider')
            .setDescription('Only these providers, by their exact names, separated by commas')
            .setAutocomplete(true)
            .setMaxLength(400),
        )
        .addIntegerOption((option) =>
          option.setName('page').setDescription('Page number, starting at 1').setMinValue(1).setMaxValue(1_000),
        ),
    )
    .addSubcommand((command) => command.setName('categories').setDescription('List the provider categories')),
  access: 'all',
  public: true,
  anywhere: true,
  execute: bySubcommand<Needs>({
    search: (interaction, context) => search(interaction, lookUp(interaction, context), context),
    categories: (interaction, context) => categories(lookUp(interaction, context), context.t),
  }),
  async autocomplete(interaction, { discovery, after, t }) {
    if (!discovery) return [];
    const { keys } = await discovery.categories(CHOICES_MS);
    if (interaction.options.getFocused(true).name === 'provider') {
      const category = keyOf(interaction.options.getString('category'), keys);
      return keys.includes(category) ? offerProviders(interaction, category, { discovery, after, t }, CHOICES_MS) : [];
    }
    const choices = keys.map((key) => ({ name: key, value: key }));
    return choicesWith(interaction.options.getFocused(), choices);
  },
  buttons: {
    /** `provider:page:<category>:<page>:<search>:<provider>`; options that were not set are empty. */
    page: {
      access: 'all',
      response: 'update',
      anywhere: true,
      async press(interaction: ButtonUse, [category = '', page = '0', words = '', only = ''], context) {
        if (!CATEGORY.test(category)) throw new UserError(context.own('provider.oldPage'));
        const discovery = lookUp(interaction, context);
        const providers = await decodeNames(namesIn(decode(only)), category, discovery);
        if (providers === null) throw new UserError(context.own('provider.oldPage'));
        const query = { category, search: decode(words), providers };
        return results(query, Number(page), discovery, context);
      },
    },
  },
} satisfies Command<Needs>;

/** Counts a lookup and returns the directory; throws a {@link UserError} if it is off or the person has to wait. */
function lookUp(interaction: CommandUse | ButtonUse, context: Needs): Discovery {
  const { own, discovery } = context;
  if (!discovery) throw notConfigured(own, 'discovery', 'DISCOVERY_URL');
  countLookUp('discovery', interaction, context);
  return discovery;
}

async function categories(discovery: Discovery, t: Translate): Promise<Reply> {
  const { keys, live } = await discovery.categories();
  return embedReply('info', t('provider.categories', { count: keys.length }), [
    ...keyLines(keys),
    live ? null : t('provider.notLive'),
    `-# ${t('provider.useSearch')}`,
  ]);
}

/** The categories, several in a line: of a list that is too long, only its last lines are left out. */
const keyLines = (keys: readonly string[]): string[] =>
  Array.from({ length: Math.ceil(keys.length / KEYS_PER_LINE) }, (_, line) =>
    keys
      .slice(line * KEYS_PER_LINE, (line + 1) * KEYS_PER_LINE)
      .map((key) => `\`${key}\``)
      .join(' · '),
  );

async function search({ options }: CommandUse, discovery: Discovery, context: Needs): Promise<Reply> {
  const { own } = context;
  const typed = options.getString('category', true).trim();
  const { keys, live } = await discovery.categories(CHOICES_MS);
  const category = keyOf(typed, keys);
  if (!CATEGORY.test(category) || (live && !keys.includes(category))) {
    const reason = own('provider.noCategory', { typed: quoted(typed), categories: listInCode(keys, own) });
    throw suggestionError(reason, typed, keys, own);
  }
  const named = namesIn(options.getString('provider'));
  const providers = await decodeNames(named, category, discovery);
  if (providers === null) throw withInput(new UserError(own('provider.none')), named[0] ?? '', own);
  const query = { category, search: options.getString('search')?.trim() || null, providers };
  return results(query, (options.getInteger('page') ?? 1) - 1, discovery, context);
}

/** A page of the providers, counted from 0. */
async function results(query: ProviderQuery, wanted: number, discovery: Discovery, { t, own }: Needs): Promise<Reply> {
  const response = await discovery.rows(query);
  if (response.status !== 'ok') {
    const refusal = new UserError(explain(own, response, 'discovery'));
    throw response.status === 'rejected' ? withInput(refusal, wordsOf(query), own) : refusal;
  }
  const found = groupProviders(response.rows);
  const directoryUrl = discovery.directoryUrl(query.category, query.search);
  const browse = isLinkable(directoryUrl) ? [linkButton(t('provider.browse'), directoryUrl)] : [];
  const asked = [query.search, query.providers[0]].flatMap((text) => (text ? [thirdPartyName(t, text, '')] : []));
  const title = [query.category, ...asked].join(' · ');
  if (found.length === 0) {
    const suggestion = await closestProvider(query, discovery);
    const lines = [
      t('provider.none'),
      suggestion === null ? null : t('reply.suggestion', { text: quoted(suggestion) }),
    ];
    return embedReply('info', title, lines, { components: rows(browse) });
  }
  const { page, pages, shown } = pageOf(found, PER_PAGE, wanted);
  const beyond = wanted > page ? [t('provider.beyond', { page: wanted + 1, pages })] : [];
  const numbered = shown.map((one, index) => ({ one, number: page * PER_PAGE + index + 1 }));
  const rest = `${encode(query.search)}:${encode(encodeNames(query.providers, MAX_NAME))}`;
  const turn = pager(t, page, pages, (to) => `provider:page:${query.category}:${to}:${rest}`);
  // One row of links: a phone shows each on its own line.
  const links = numbered.flatMap(({ one, number }) => linksOf(t, one, number, Math.floor(PER_PAGE / shown.length)));
  const lines = [...beyond, ...numbered.flatMap(({ one, number }) => sectionOf(t, one, number))];
  if (!response.complete) lines.push(`-# ${t('provider.incomplete')}`);
  return embedReply('info', title, lines, {
    footer: { text: t('provider.found', { count: found.length, page: page + 1, pages }) },
    components: rows([...turn, ...browse], links),
  });
}

/** The query as it was typed, in one text. */
const wordsOf = ({ category, search, providers }: ProviderQuery): string =>
  [category, search, providers[0]].filter(Boolean).join(' · ');

/** Colons separate the parts of a custom ID. */
const encode = (text: string | null) => (text ?? '').replaceAll('%', '%25').replaceAll(':', '%3A');
const decode = (text: string) => text.replaceAll('%3A', ':').replaceAll('%25', '%') || null;
