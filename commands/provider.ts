import type { APIButtonComponent } from 'discord.js';
import type { ButtonUse, Command, CommandUse, Reply } from '../src/discord/command.ts';
import { isLinkable } from '../src/domain/text.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import type { Discovery, ProviderQuery } from '../src/upstream/discovery.ts';
import { meantNames, namesIn, offerProviders, packed, unpacked } from './provider/names.ts';
import { groupProviders, linksOf, sectionOf } from './provider/show.ts';
import { fitting } from './shared/choices.ts';
import { countLookUp } from './shared/cool-down.ts';
import { defineAnywhere } from './shared/define.ts';
import { explain, notConfigured } from './shared/failure.ts';
import { refusing } from './shared/meant.ts';
import { echoing, linkButton, nameOf, note, pageOf, pager, quoted, row } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';

type Needs = ContextWith<'discovery' | 'coolDown'>;

const PER_PAGE = 5;
/** How long choices wait for the service; then the last known or the specified categories are offered. */
const CHOICES_MS = 1_000;
const CATEGORY = /^[\w-]{1,50}$/;
/** Characters of a name in a custom id, which has at most 100. */
const NAME_MOST = 24;

/** A category as the directory writes it. */
const keyOf = (typed: string | null, keys: readonly string[]): string =>
  keys.find((key) => key.toLowerCase() === typed?.trim().toLowerCase()) ?? typed?.trim() ?? '';

/** The directory of infrastructure providers. */
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
  async execute(interaction, context) {
    directory(context);
    countLookUp('directory', interaction, context);
    if (interaction.options.getSubcommand() === 'categories') return categories(context.t, directory(context));
    return search(interaction, context);
  },
  async autocomplete(interaction, { discovery }) {
    if (!discovery) return [];
    const { keys } = await discovery.categories(CHOICES_MS);
    if (interaction.options.getFocused(true).name === 'provider') {
      const category = keyOf(interaction.options.getString('category'), keys);
      return keys.includes(category) ? offerProviders(interaction, category, discovery, CHOICES_MS) : [];
    }
    const choices = keys.map((key) => ({ name: key, value: key }));
    return fitting(interaction, choices);
  },
  buttons: {
    /** `provider:page:<category>:<page>:<search>:<provider>`; options that were not set are empty. */
    page: {
      access: 'all',
      response: 'update',
      anywhere: true,
      async press(interaction: ButtonUse, [category = '', page = '0', words = '', only = ''], context) {
        if (!CATEGORY.test(category)) throw new UserError(context.own('provider.oldPage'));
        const discovery = directory(context);
        countLookUp('directory', interaction, context);
        const providers = await unpacked(namesIn(decode(only)), category, discovery);
        if (providers === null) throw new UserError(context.own('provider.oldPage'));
        const query = { category, search: decode(words), providers };
        return results(context, query, Number(page));
      },
    },
  },
} satisfies Command<Needs>;

function directory({ own, discovery }: Needs): Discovery {
  if (!discovery) throw notConfigured(own, 'directory', 'DISCOVERY_URL');
  return discovery;
}

async function categories(t: Translate, discovery: Discovery): Promise<Reply> {
  const { keys, live } = await discovery.categories();
  return note('info', t('provider.categories', { count: keys.length }), [
    keys.map((key) => `\`${key}\``).join(' · '),
    live ? null : t('provider.notLive'),
    `-# ${t('provider.useSearch')}`,
  ]);
}

async function search({ options }: CommandUse, context: Needs): Promise<Reply> {
  const { own } = context;
  const typed = options.getString('category', true).trim();
  const { keys, live } = await directory(context).categories(CHOICES_MS);
  const category = keyOf(typed, keys);
  if (!CATEGORY.test(category) || (live && !keys.includes(category))) {
    const known = keys.map((key) => `\`${key}\``).join(own('reply.comma'));
    throw refusing(own('provider.noCategory', { typed: quoted(typed), categories: known }), typed, keys, own);
  }
  const named = namesIn(options.getString('provider'));
  const providers = await unpacked(named, category, directory(context));
  if (providers === null) throw echoing(new UserError(own('provider.none')), named[0] ?? '', own);
  const query = {
    category,
    search: options.getString('search')?.trim() || null,
    providers,
  };
  return results(context, query, (options.getInteger('page') ?? 1) - 1);
}

async function results(context: Needs, query: ProviderQuery, wanted: number): Promise<Reply> {
  const { t, own } = context;
  const discovery = directory(context);
  const response = await discovery.rows(query);
  if (response.status === 'rejected')
    throw echoing(new UserError(explain(own, response, 'directory')), wordsOf(query), own);
  if (response.status !== 'ok') throw new UserError(explain(own, response, 'directory'));
  const found = groupProviders(response.rows);
  const directoryUrl = discovery.directoryUrl(query.category, query.search);
  const browse = isLinkable(directoryUrl) ? [linkButton(t('provider.browse'), directoryUrl)] : [];
  const asked = [query.search, query.providers[0]].flatMap((text) => (text ? [nameOf(t, text, '')] : []));
  const title = [query.category, ...asked].join(' · ');
  if (found.length === 0) {
    const meant = await meantNames(query, discovery);
    const lines = [t('provider.none'), meant === null ? null : t('reply.meant', { text: quoted(meant) })];
    return note('info', title, lines, { components: rowsOf(browse) });
  }
  const { page, pages, shown } = pageOf(found, PER_PAGE, wanted);
  const beyond = wanted > page ? [t('provider.beyond', { page: wanted + 1, pages })] : [];
  const numbered = shown.map((one, index) => ({ one, number: page * PER_PAGE + index + 1 }));
  const turn = pager(
    t,
    page,
    pages,
    (to) =>
      `provider:page:${query.category}:${to}:${encode(query.search)}:${encode(packed(query.providers, NAME_MOST))}`,
  );
  // One row of links: a phone shows each on its own line.
  const links = numbered.flatMap(({ one, number }) => linksOf(t, one, number, Math.floor(PER_PAGE / shown.length)));
  const rows = rowsOf([...turn, ...browse], links);
  const lines = [...beyond, ...numbered.flatMap(({ one, number }) => sectionOf(t, one, number))];
  if (!response.complete) lines.push(`-# ${t('provider.incomplete')}`);
  return note('info', title, lines, {
    footer: { text: t('provider.found', { count: found.length, page: page + 1, pages }) },
    components: rows,
  });
}

/** The query as it was typed, in one text. */
const wordsOf = ({ category, search, providers }: ProviderQuery): string =>
  [category, search, providers[0]].filter(Boolean).join(' · ');

/** One row per list of buttons that is not empty. */
const rowsOf = (...groups: APIButtonComponent[][]) =>
  groups.filter(({ length }) => length > 0).map((buttons) => row(...buttons));

/** Colons separate the parts of a custom ID. */
const encode = (text: string | null) => (text ?? '').replaceAll('%', '%25').replaceAll(':', '%3A');
const decode = (text: string) => text.replaceAll('%3A', ':').replaceAll('%25', '%') || null;
