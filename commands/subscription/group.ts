import { ButtonStyle } from 'discord.js';
import type { Button, Menu, Reply } from '../../src/discord/command.ts';
import {
  type AddressText,
  addressList,
  checksumAddress,
  NO_ADDRESS,
  parseWatchable,
} from '../../src/domain/address.ts';
import { nameKey, type Questions } from '../../src/domain/guild.ts';
import { addressesOf, type Choices, DEFAULT_CHOICES, type Subscription } from '../../src/domain/subscription.ts';
import { cutTo } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { outsideLine } from '../shared/channels.ts';
import { button, MAX_MENU_OPTIONS, menuRow, row, rows } from '../shared/components.ts';
import { lookAlikeLines, lookAlikes } from '../shared/look-alike.ts';
import { faultText, namedAddress, nameOrNull, namesByAddress, type Pasted } from '../shared/names.ts';
import { nextStep } from '../shared/next-step.ts';
import { ask, takeConfirmation } from '../shared/records.ts';
import { embedReply, firstOf, fullAddress, headed } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { tokenBook } from '../shared/tokens.ts';
import { summary } from './describe.ts';
import { groupDryRunField } from './dry-run.ts';
import { checkPlace, forumOf, placeFor } from './forum-post.ts';
import { addSubscription, requireMention } from './save.ts';

const GROUP = 'subscription.group';
const MAX_SHOWN = 25;
/** A hash fits, which people mistake for an address. */
const MAX_SHOWN_TEXT = 66;
/** Maximum addresses of one list: more belong into a file. */
const MAX_ENTRIES = 200;
/** Maximum addresses of one list in a forum, where each gets a post: Discord limits how fast posts can be created. */
const MAX_POSTS = 25;

type Entry = Questions[typeof GROUP]['entries'][number];

export function findAddresses(text: string, isList: boolean, t: Translate) {
  const entries = new Map<AddressText, string | null>();
  const refused: Pasted['wrong'] = [];
  const taken = new Set<string>();
  // One that is cut must not go unnoticed, nor become the name of another.
  const wrong = (isList && text.match(NO_ADDRESS)) || [];
  const listed = addressList(isList ? text.replace(NO_ADDRESS, '') : text, isList);
  for (const { text: written, label } of [...listed, ...wrong.map((word) => ({ text: word, label: null }))]) {
    const parsed = parseWatchable(written);
    if (!parsed.ok) {
      refused.push({ text: written, fault: parsed.fault });
      continue;
    }
    const name = label === null ? null : nameOrNull(label, t);
    const isFree = name !== null && !taken.has(name.toLowerCase());
    if (isFree) taken.add(name.toLowerCase());
    entries.set(parsed.address, isFree ? name : null);
  }
  return { entries: [...entries].map(([address, label]) => ({ address, label })), refused };
}

export async function offerGroup(
  text: string,
  channelId: string,
  { label: _, network = null, ...choices }: Choices & Partial<Pick<Subscription, 'network'>>,
  isList: boolean,
  context: Context,
): Promise<Reply> {
  const { guildId, t, settings } = context;
  const { entries: found, refused } = findAddresses(text, isList, t);
  const all = await context.subscriptions.list(guildId);
  const forum = forumOf(channelId, context);
  const isHere = (id: string) => id === channelId || forum?.threads.cache.has(id) === true;
  const watched = all.filter((subscription) => isHere(subscription.channelId) && subscription.network === network);
  const there = new Set(addressesOf(watched));
  const known = found.filter(({ address }) => there.has(address));
  const names = await namesByAddress(guildId, context);
  // Nobody renames an address by pasting a list.
  const unwatched = found.filter(({ address }) => !there.has(address));
  const max = forum ? MAX_POSTS : MAX_ENTRIES;
  const beyond = unwatched.length - max;
  const called = unwatched
    .slice(0, max)
    .map(({ address, label }) => ({ address, label: names.has(address) ? null : label }));
  const taken = new Set([...names.values()].map(nameKey));
  const isTaken = ({ label }: Entry) => label !== null && taken.has(nameKey(label));
  const fresh = called.map((entry) => (isTaken(entry) ? { ...entry, label: null } : entry));
  const unnamed = called.filter(isTaken).length;
  const shown = ({ address }: Entry) => `-# ${fullAddress(address, settings)}`;
  const lines = [
    ...headed(t, `**${t('watch.known', { count: known.length })}**`, known, MAX_SHOWN, shown),
    ...refusedLines(refused, t),
    ...(unnamed > 0 ? [t('subscription.import.unnamed', { count: unnamed })] : []),
    ...(beyond > 0 ? [`⚠️ ${t(forum ? 'watch.beyondForum' : 'watch.beyond', { count: beyond, max })}`] : []),
  ];
  if (fresh.length === 0) return embedReply('info', known.length > 0 ? t('watch.nothingNew') : t('watch.none'), lines);
  const alike = await lookAlikes(addressesOf(fresh), context);
  const proposals = fresh.map(({ address }) => ({ ...choices, label: null, guildId, address, network }));
  const entry = await ask(context, GROUP, { channelId, network, choices, entries: fresh });
  const nameOf = ({ address, label }: Entry) => label ?? names.get(address) ?? null;
  const preview = [
    ...firstOf(t, fresh, MAX_SHOWN, (entry) => namedAddress(nameOf(entry), entry.address, settings)),
    ...(await targetLines({ channelId, network, choices }, context)),
    ...lookAlikeLines(alike, context),
    ...lines,
  ];
  const options = fresh.map((entry) => {
    const about = alike.has(entry.address) ? t('watch.alike') : nameOf(entry);
    const value = checksumAddress(entry.address);
    return { label: value, value, default: true, ...(about !== null && { description: about }) };
  });
  const count = fresh.length;
  const some = menuRow(`subscription:some:${entry}`, t('watch.placeholder'), options, {
    min_values: 1,
    max_values: count,
  });
  const yes = button(t('watch.all', { count }), `subscription:group:${entry}`, ButtonStyle.Success);
  return embedReply(alike.size > 0 ? 'warn' : 'info', t('watch.title', { count }), preview, {
    fields: [await groupDryRunField(proposals, context)],
    components: [...(count <= MAX_MENU_OPTIONS ? [some] : []), row(yes)],
  });
}

export const groupButton: Button<Context> = {
  async press(_, [entry], context) {
    const asked = await takeConfirmation(context, GROUP, entry);
    return watchAll(asked, asked.entries, context);
  },
};

export const someMenu: Menu<Context> = {
  async choose(_, [entry], context, values) {
    const asked = await takeConfirmation(context, GROUP, entry);
    const chosen = asked.entries.filter(({ address }) => values.includes(checksumAddress(address)));
    return watchAll(asked, chosen, context);
  },
};

async function targetLines(
  { choices, channelId, network = null }: Omit<Questions[typeof GROUP], 'entries'>,
  context: Context,
): Promise<string[]> {
  const subscription = { ...DEFAULT_CHOICES, ...choices, channelId, network, paused: false, mutedUntil: null };
  return summary(subscription, context, await tokenBook(context));
}

async function watchAll(asked: Questions[typeof GROUP], entries: readonly Entry[], context: Context): Promise<Reply> {
  const { channelId, network = null, choices } = asked;
  const { guildId, interaction, guilds, settings, now, t } = context;
  await checkPlace(channelId, interaction.guild?.channels.cache.get(channelId) ?? null, context);
  requireMention(interaction, choices.mention, channelId, t);
  const at = now();
  const show = ({ address }: Entry) => fullAddress(address, settings);
  const outcomes = { added: [] as Entry[], exists: [] as Entry[], full: [] as Entry[], crowded: [] as Entry[] };
  let stopped: string[] = [];
  for (const [index, { address, label }] of entries.entries()) {
    let post: string;
    try {
      post = await placeFor(channelId, { address, label }, context);
    } catch (error) {
      if (!(error instanceof UserError) || outcomes.added.length === 0) throw error;
      stopped = [`⚠️ ${error.message}`, ...firstOf(t, entries.slice(index), MAX_SHOWN, (entry) => `-# ${show(entry)}`)];
      break;
    }
    const watched = { ...DEFAULT_CHOICES, ...choices, channelId: post, address, network };
    const add = (name: string | null) => addSubscription({ ...watched, label: name }, at, context);
    const named = await add(label);
    // A name that another address has by now, or that does not fit, is no reason to watch nothing.
    const isNamed = named.status !== 'label-taken' && named.status !== 'labels-full';
    const outcome = isNamed ? named : await add(null);
    if (outcome.status === 'label-taken' || outcome.status === 'labels-full') continue;
    outcomes[outcome.status].push({ address, label: isNamed ? label : null });
  }
  const { added, exists, full, crowded } = outcomes;
  if (added.length > 0) await guilds.recordLocale(guildId, interaction.guildLocale);
  if (added.length === 0 && full.length > 0) {
    throw new UserError(t('subscription.full', { count: settings.maxSubscriptions }));
  }
  const tooMany = crowded.map((entry) =>
    t('subscription.channelsFull', { address: show(entry), max: settings.maxChannelsPerAddress }),
  );
  if (added.length === 0 && tooMany.length > 0) throw new UserError(tooMany.join('\n'));
  const addresses = added.map(({ address }) => address);
  const renamed = added.flatMap(({ address, label }) => (label === null ? [] : address));
  if (renamed.length > 0) await context.relabel(guildId, renamed);
  const alike = await lookAlikes(addresses, context);
  const names = await namesByAddress(guildId, context);
  const group = (those: Entry[], heading: string) =>
    headed(t, `**${heading}**`, those, MAX_SHOWN, (entry) => `-# ${show(entry)}`);
  const lines = [
    ...firstOf(t, added, MAX_SHOWN, ({ address }) => namedAddress(names.get(address), address, settings)),
    ...lookAlikeLines(alike, context),
    ...tooMany,
    ...stopped,
    ...group(exists, t('watch.known', { count: exists.length })),
    ...group(full, t('watch.full', { count: full.length, max: settings.maxSubscriptions })),
  ];
  if (added.length === 0) return embedReply('info', t('watch.nothingNew'), lines);
  const target = await targetLines(asked, context);
  const outside = interaction.guild ? null : `⚠️ ${outsideLine(context)}`;
  const tone = alike.size + stopped.length > 0 || outside !== null ? 'warn' : 'good';
  const watched = addresses.map((address) => ({ address, network }));
  const next = await nextStep(watched, `t${at}`, context, true);
  return embedReply(tone, t('watch.done', { count: added.length }), [...lines, ...target, outside], {
    fields: [next.field],
    components: rows([...next.buttons, button(t('subscription.add.list'), 'subscription:list:all:0')]),
  });
}

function refusedLines(refused: Pasted['wrong'], t: Translate): string[] {
  if (refused.length === 0) return [];
  const lines = refused
    .slice(0, 5)
    .map(({ text, fault }) => `- \`${cutTo(text, MAX_SHOWN_TEXT)}\`: ${faultText(fault, text, t)}`);
  return [`**${t('watch.refused', { count: refused.length })}**`, ...lines];
}
