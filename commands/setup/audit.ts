import type { Reply, Use } from '../../src/discord/command.ts';
import { type AddressText, parseAddress, shortAddress } from '../../src/domain/address.ts';
import type { AuditEntry } from '../../src/domain/guild.ts';
import { inCode } from '../../src/domain/text.ts';
import { nameIn, wordingsOf } from '../../src/languages/index.ts';
import { LANGUAGES, type Language } from '../../src/languages/languages.ts';
import { hasManageServer } from '../shared/channels.ts';
import { pager, rows } from '../shared/components.ts';
import { nameOf, namesByAddress, titleName } from '../shared/names.ts';
import { titleOf } from '../shared/networks.ts';
import { absoluteTime, addressInCode, embedReply, firstOf, MAX_ID } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { tokenBook } from '../shared/tokens.ts';
import { mutedText } from '../subscription/describe.ts';
import { fieldOf, labelOf } from '../subscription/fields.ts';

const PER_PAGE = 8;
const MAX_DETAIL = 350;
const ABOUT_ADDRESSES = /^(subscription|webhook)\./;

export async function audit(interaction: Use, context: Context, page = 0): Promise<Reply> {
  const { t } = context;
  const index = Math.max(0, Math.trunc(page) || 0);
  const { total, entries } = await context.audit.page(interaction.guildId, index * PER_PAGE, PER_PAGE);
  if (total === 0) return embedReply('info', t('setup.audit.none'), [t('setup.audit.kept')]);
  const pages = Math.ceil(total / PER_PAGE);
  if (index >= pages) return audit(interaction, context, pages - 1);
  const isWhole = hasManageServer(interaction);
  const book = await bookOf(interaction.guildId, context);
  const lines = entries.flatMap((entry) => linesOf(entry, isWhole, book, context));
  const turn = pager(t, index, pages, (to) => `setup:audit:${to}`);
  const position = pages > 1 ? `${t('reply.page', { page: index + 1, pages })} · ` : '';
  return embedReply('info', t('setup.audit.title', { count: total }), lines, {
    footer: { text: `${position}${t('setup.audit.kept')}` },
    components: rows(turn),
  });
}

type Book = Awaited<ReturnType<typeof bookOf>>;

async function bookOf(guildId: string, context: Context) {
  const [names, list, webhooks, tokens] = await Promise.all([
    namesByAddress(guildId, context),
    context.subscriptions.list(guildId),
    Promise.all(context.settings.networks.map(({ id }) => context.storedProjects.webhookNames(guildId, id))),
    tokenBook(context),
  ]);
  return {
    names,
    subscriptions: new Map(list.map((subscription) => [subscription.id, subscription])),
    webhooks: new Map(webhooks.flatMap((all) => [...all])),
    tokens,
  };
}

/** Somebody with only the manager role may not see every channel, so details that name watched addresses are hidden. */
function linesOf({ action, userId, at, detail }: AuditEntry, isWhole: boolean, book: Book, context: Context): string[] {
  const { t } = context;
  // A later version may have stored an action that this one has no text for.
  const words = t(`setup.audit.action.${action.replaceAll('.', '-')}` as 'setup.audit.action.setup-server', {
    defaultValue: inCode(action.replaceAll('.', ' '), '?'),
  });
  const isShown = isWhole || !ABOUT_ADDRESSES.test(action);
  const phrases = isShown && isRecord(detail) ? phrasesOf(action, detail, book, context) : [];
  return [
    `**${words}** · <@${userId}> · ${absoluteTime(at)}`,
    ...(phrases.length === 0 ? [] : [`-# ${asManyAsFitIn(phrases, MAX_DETAIL)}`]),
  ];
}

type Detail = Record<string, unknown>;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const isRecord = (detail: unknown): detail is Detail => typeof detail === 'object' && detail !== null;

function asManyAsFitIn(phrases: string[], max: number): string {
  let text = '';
  for (const phrase of phrases) {
    if (text.length + phrase.length > max) return text === '' ? '…' : `${text} · …`;
    text += text === '' ? phrase : ` · ${phrase}`;
  }
  return text;
}

/** Everything in a detail is hostile; what this version does not know is left out. */
function phrasesOf(action: string, detail: Detail, book: Book, context: Context): string[] {
  const { filters, ...rest } = detail;
  const isPlain = action === 'subscription.edit' || action === 'setup.server';
  const shared = sharedPhrases(detail, book, context);
  const all = Object.entries({ ...rest, ...(isRecord(filters) && filters) });
  return all.flatMap(([key, value]) => {
    const phrase = shared.get(key)?.(value);
    if (phrase !== undefined) return phrase;
    return isPlain ? optionPhrase(action, key, value, book, context) : [];
  });
}

type Phrase = (value: unknown) => string | string[] | undefined;

/** By the keys that several actions share. */
function sharedPhrases(detail: Detail, book: Book, { t, settings }: Context): ReadonlyMap<string, Phrase> {
  const { names, subscriptions, webhooks, tokens } = book;
  const list = (values: unknown, show: (one: unknown) => string) =>
    Array.isArray(values) && values.length > 0 ? firstOf(t, values, 3, show).join(t('reply.comma')) : [];
  const code = (text: unknown) => inCode(String(text), '?', MAX_ID);
  const address = (value: unknown) => {
    const parsed = parseAddress(String(value));
    if (!parsed.ok) return code(value);
    const name = names.get(parsed.address);
    return name === undefined
      ? addressInCode(parsed.address)
      : `${titleName(name)} \`${shortAddress(parsed.address)}\``;
  };
  const subscription = (id: unknown) => {
    const found = subscriptions.get(Number(id));
    return found ? t('why.subscription', { name: nameOf(found), id: Number(id) }) : `#${Number(id)}`;
  };
  const channel: Phrase = (id) => `<#${code(id).replace(/\D/g, '')}>`;
  const until: Phrase = (at) => (typeof at === 'number' ? mutedText(at, t) : t('subscription.mute.again'));
  const counted = (kind: 'added' | 'changed' | 'labels'): [string, Phrase] => [
    kind,
    (count) => (typeof count === 'number' && count > 0 ? t(`subscription.import.${kind}`, { count }) : []),
  ];
  const after = (before: unknown, show: (text: string) => string) =>
    typeof before === 'string' ? `${show(before)} → ` : '';
  const asset = (value: unknown) => (value === 'native' ? value : (String(value).toLowerCase() as AddressText));
  return new Map<string, Phrase>([
    ['id', (id) => ('address' in detail ? `#${Number(id)}` : subscription(id))],
    ['ids', (ids) => list(ids, subscription)],
    ['address', address],
    ['addresses', (addresses) => list(addresses, address)],
    ['channel', channel],
    ['channelId', channel],
    ['network', (id) => (typeof id === 'number' ? titleOf(id, settings) : t('chain.anyNetwork'))],
    ['all', () => t('subscription.all')],
    ['until', until],
    ['mutedUntil', until],
    ['name', (name) => (name === null ? [] : after(detail.before, titleName) + titleName(textOf(name)))],
    ['webhook', (id) => code(webhooks.get(String(id)) ?? id)],
    ['project', (id) => after(detail.replaced, code) + code(id)],
    ['token', (token) => ('until' in detail ? tokens.shortNameOf(asset(token)) : undefined)],
    ...(['added', 'changed', 'labels'] as const).map(counted),
  ]);
}

const SETTINGS = new Map([
  ['defaultChannel', 'channel'],
  ['managerRole', 'manager'],
  ...['timezone', 'language', 'style', 'statement'].map((name) => [name, name] as const),
]);

function optionPhrase(action: string, key: string, value: unknown, { tokens }: Book, context: Context): string[] {
  const { t, language } = context;
  const isServer = action === 'setup.server';
  const field = isServer ? null : fieldOf(key);
  const option = isServer ? SETTINGS.get(key) : field?.option;
  if (option === undefined) return [];
  const path = isServer ? `setup server ${option}` : `subscription edit ${option}`;
  // A field that is not an option of a command has its name from the panel.
  const name = field && field.about === undefined ? labelOf(option, t) : nameIn(language, path);
  return [`${name}: ${write(value)}`];

  function write(value: unknown): string {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '—';
    if (typeof value === 'boolean') return value ? t('token.yes') : t('token.no');
    if (Array.isArray(value)) return firstOf(t, value, 3, write).join(t('reply.comma'));
    if (isRecord(value)) {
      const parts = Object.entries(value).map(([asset, least]) => `${write(least)} ${write(asset)}`);
      return parts.length === 0 ? '—' : firstOf(t, parts, 3, String).join(t('reply.comma'));
    }
    const text = textOf(value);
    if (option === 'channel') return `<#${text}>`;
    if (option === 'manager' || option === 'mention') return `<@&${text}>`;
    if (text === 'native' && option !== 'kind') return tokens.shortNameOf('native');
    const parsed = parseAddress(text);
    if (parsed.ok)
      return option!.includes('counterparties') ? addressInCode(parsed.address) : tokens.shortNameOf(parsed.address);
    if (option === 'language' && text in LANGUAGES) return LANGUAGES[text as Language];
    const choice = `${path}=${text}`;
    return inCode(wordingsOf(language)[choice]?.name ?? text, '—');
  }
}
