import {
  type APIActionRowComponent,
  type APIMessageComponent,
  type APIStringSelectComponent,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ComponentType,
  ContextMenuCommandBuilder,
  InteractionContextType,
} from 'discord.js';
import type { MenuUse, MessageCommand, MessageUse, Reply } from '../src/discord/command.ts';
import type { AddressText } from '../src/domain/address.ts';
import { DEFAULT_CHOICES } from '../src/domain/subscription.ts';
import { type AddressFault, addressesIn, checksumAddress, parseWatchable } from '../src/domain/typed-address.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import { record } from './shared/audit.ts';
import { button, MAX_MENU_OPTIONS, menuRow, row } from './shared/components.ts';
import { lookAlikeLines, lookAlikes } from './shared/look-alike.ts';
import { namesByAddress, notNamed } from './shared/naming.ts';
import { nextStep } from './shared/next-step.ts';
import { embedReply, fullAddress } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { checkTarget, outsideLine } from './shared/target.ts';

type Needs = ContextWith<
  'guildChannels' | 'subscriptions' | 'labels' | 'guilds' | 'audit' | 'projects' | 'receiver' | 'settings' | 'now'
>;

const NAME = 'Watch addresses in this message';

/** The addresses in a message: those that can be watched, and those that cannot. */
interface Found {
  addresses: AddressText[];
  refused: { text: string; fault: AddressFault }[];
}

/** `Watch addresses in this message`, in a message's menu: offers to watch them in the message's channel. */
export const watchMessage: MessageCommand<Needs> = {
  kind: 'message',
  data: {
    name: NAME,
    toJSON: () => ({
      ...new ContextMenuCommandBuilder()
        .setName(NAME)
        .setType(ApplicationCommandType.Message)
        .setContexts(InteractionContextType.Guild)
        .setIntegrationTypes(ApplicationIntegrationType.GuildInstall)
        .toJSON(),
      type: ApplicationCommandType.Message,
    }),
  },
  access: 'manage',
  async execute(interaction, context) {
    const { t } = context;
    await checkTarget(interaction, interaction.channelId, null, context);
    const { addresses, refused } = findAddresses(textOf(interaction));
    const there = (await context.subscriptions.list(interaction.guildId)).filter(
      ({ channelId }) => channelId === interaction.channelId,
    );
    const known = addresses.filter((address) => there.some((one) => one.address === address));
    const fresh = addresses.filter((address) => !known.includes(address));
    const lines = [
      ...group(known, t('watch.known', { count: known.length }), (address) => fullAddress(address, context.settings)),
      ...refusedLines(refused, t),
    ];
    if (fresh.length === 0) {
      return embedReply('info', known.length > 0 ? t('watch.nothingNew') : t('watch.none'), lines);
    }
    const offered = fresh.slice(0, MAX_MENU_OPTIONS);
    const rest = fresh.length - offered.length;
    const alike = await lookAlikes(offered, interaction, context);
    const shown = [
      t('watch.choose', { channel: `<#${interaction.channelId}>` }),
      ...lookAlikeLines(alike, context),
      ...lines,
      rest > 0 ? t('watch.more', { count: rest }) : null,
    ];
    return embedReply(alike.size > 0 ? 'warn' : 'info', t('watch.title', { count: fresh.length }), shown, {
      components: [await menuOf(offered, alike, interaction.guildId, context)],
    });
  },
  menus: {
    add: {
      access: 'manage',
      response: 'update',
      choose: (interaction, _, values, context) => watchChosen(interaction, values, context),
    },
  },
};

/** `Watch addresses in this message:add`: adds the chosen addresses, each like `/subscription add` without options. */
async function watchChosen(interaction: MenuUse, values: string[], context: Needs): Promise<Reply> {
  const { guildId, channelId, user } = interaction;
  const { subscriptions, guilds, settings, now, t } = context;
  await checkTarget(interaction, channelId, null, context);
  const { addresses, refused } = findAddresses(values.join(' '));
  const outcomes: Record<'added' | 'exists' | 'full' | 'crowded', AddressText[]> = {
    added: [],
    exists: [],
    full: [],
    crowded: [],
  };
  for (const address of addresses) {
    const wanted = { ...DEFAULT_CHOICES, guildId, channelId, address, createdBy: user.id, createdAt: now() };
    const outcome = await subscriptions.add(wanted, settings.maxSubscriptions, settings.maxChannelsPerAddress);
    if (outcome.status === 'label-taken' || outcome.status === 'labels-full') throw notNamed(outcome, context);
    outcomes[outcome.status].push(address);
    if (outcome.status !== 'added') continue;
    const detail = { id: outcome.subscription.id, address: checksumAddress(address), channel: channelId };
    await record(interaction, context, 'subscription.add', detail);
  }
  const { added, exists, full, crowded } = outcomes;
  if (added.length > 0) await guilds.recordLocale(guildId, interaction.guildLocale);
  if (added.length === 0 && full.length > 0) {
    throw new UserError(t('subscription.full', { count: settings.maxSubscriptions }));
  }
  const show = (address: AddressText) => fullAddress(address, settings);
  const tooMany = crowded.map((address) =>
    t('subscription.channelsFull', { address: show(address), max: settings.maxChannelsPerAddress }),
  );
  if (added.length === 0 && tooMany.length > 0) throw new UserError(tooMany.join('\n'));
  const alike = await lookAlikes(added, interaction, context);
  const lines = [
    ...added.map((address) => `-# ${show(address)}`),
    ...lookAlikeLines(alike, context),
    ...tooMany,
    ...group(exists, t('watch.known', { count: exists.length }), show),
    ...group(full, t('watch.full', { count: full.length, max: settings.maxSubscriptions }), show),
    ...refusedLines(refused, t),
  ];
  if (added.length === 0) return embedReply('info', t('watch.nothingNew'), lines);
  const target = t('watch.target', { channel: `<#${channelId}>` });
  const outside = interaction.guild ? null : `⚠️ ${outsideLine(interaction, t)}`;
  const tone = alike.size > 0 || outside !== null ? 'warn' : 'good';
  const next = await nextStep(guildId, added, 'all', context);
  return embedReply(tone, t('watch.done', { count: added.length }), [...lines, target, outside], {
    fields: [next.field],
    components: [row(...next.buttons, button(t('subscription.add.list'), 'subscription:list:all:0'))],
  });
}

/** All visible text of a message, including a forwarded one. */
function textOf({ targetMessage }: MessageUse): string {
  return [targetMessage, ...targetMessage.messageSnapshots.values()].map(textIn).join('\n');
}

function textIn({
  content,
  embeds,
  components,
}: Pick<MessageUse['targetMessage'], 'content' | 'embeds' | 'components'>): string {
  const parts = embeds.flatMap(({ title, description, url, author, footer, fields }) => [
    title,
    description,
    url,
    author?.name,
    footer?.text,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ]);
  const texts = components.flatMap((one) => displaysIn(one.toJSON()));
  return [content, ...parts, ...texts].filter(Boolean).join('\n');
}

/** The texts of a component, for example of a compact alert. */
function displaysIn(component: APIMessageComponent): string[] {
  if (component.type === ComponentType.TextDisplay) return [component.content];
  return 'components' in component ? component.components.flatMap(displaysIn) : [];
}

/** Each address once; valid if any of its spellings is valid. */
function findAddresses(text: string): Found {
  const refused = new Map<string, Found['refused'][number]>();
  const addresses = new Set<AddressText>();
  for (const word of addressesIn(text)) {
    const parsed = parseWatchable(word);
    if (parsed.ok) addresses.add(parsed.address);
    else refused.set(word.toLowerCase(), { text: word, fault: parsed.fault });
  }
  for (const address of addresses) refused.delete(address);
  return { addresses: [...addresses], refused: [...refused.values()] };
}

/** The menu for picking the addresses to watch. */
async function menuOf(
  addresses: AddressText[],
  alike: ReadonlyMap<AddressText, unknown>,
  guildId: string,
  context: Needs,
): Promise<APIActionRowComponent<APIStringSelectComponent>> {
  const { t } = context;
  const names = await namesByAddress(guildId, context);
  const options = addresses.map((address) => {
    const about = alike.has(address) ? t('watch.alike') : names.get(address);
    const description = about && { description: about };
    return { label: checksumAddress(address), value: checksumAddress(address), ...description };
  });
  return menuRow(`${NAME}:add`, t('watch.placeholder'), options, { min_values: 1, max_values: options.length });
}

function group(addresses: AddressText[], heading: string, show: (address: AddressText) => string): string[] {
  return addresses.length === 0 ? [] : [`**${heading}**`, ...addresses.map((address) => `-# ${show(address)}`)];
}

function refusedLines(refused: Found['refused'], t: Translate): string[] {
  if (refused.length === 0) return [];
  const lines = refused.slice(0, 5).map(({ text, fault }) => `- \`${text}\`: ${t(`address.${fault}`)}`);
  return [`**${t('watch.refused', { count: refused.length })}**`, ...lines];
}
