import type { AutocompleteUse, ButtonUse, Choice, Command, CommandUse, Reply } from '../src/discord/command.ts';
import { type AddressText, checksumAddress, toAddress } from '../src/domain/address.ts';
import type { Label } from '../src/domain/guild.ts';
import { addressesOf } from '../src/domain/subscription.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import { seenBy } from './shared/channels.ts';
import { button, fingerprint, pager, question, row, rows } from './shared/components.ts';
import { lookedUp, text, withSubcommands } from './shared/define.ts';
import { lookAlikeLines, lookAlikes } from './shared/look-alike.ts';
import { boldName, namesByAddress, notNamed, readAddress, readName, titleName } from './shared/names.ts';
import { record } from './shared/records.ts';
import { embedReply, fullAddress, pageOf, readTyped } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { addressChoice, choicesWith } from './shared/suggestions.ts';

const PER_PAGE = 12;
const LATEST_DECISIONS = 300;

export const label = {
  section: 'understand',
  ...withSubcommands('label', 'Names for addresses, shown in this server’s alerts', {
    set: {
      description: 'Name or rename an address',
      options: [
        lookedUp('address', '0x followed by 40 hexadecimal digits'),
        text('name', 'The name to show in alerts', { required: true, max_length: 60 }),
      ],
      execute: set,
    },
    remove: {
      description: 'Remove the name of an address',
      options: [lookedUp('address', 'The address, or its name')],
      execute: async (interaction, context) => askToRemove(await named(interaction, context), context),
    },
    list: {
      description: 'List all names in this server',
      execute: (_, context) => list(context, 0),
    },
  }),
  autocomplete: offer,
  buttons: {
    list: {
      press: (_, [page], context) => list(context, Number(page)),
    },
    drop: { press: confirmRemove },
    keep: {
      press: async (_, __, { t }) => embedReply('info', t('label.kept'), [t('label.unchanged')]),
    },
  },
} satisfies Command<Context>;

async function set(interaction: CommandUse, context: Context): Promise<Reply> {
  const { labels, settings, relabel, now, t } = context;
  const typed = interaction.options.getString('address', true);
  const address = readAddress(typed, t, { names: await namesByAddress(interaction.guildId, context) });
  const called = interaction.options.getString('name', true);
  const name = readTyped(() => readName(called, t), called, t);
  const { guildId, user } = interaction;
  const outcome = await labels.set(guildId, { address, name, createdBy: user.id, at: now() });
  if (outcome.status !== 'set') throw notNamed(outcome, context);
  const { before } = outcome;
  let changing: string | null = null;
  if (before !== name) {
    await record(context, 'label.set', { address: checksumAddress(address), name, before });
    changing = changingLine(await relabel(guildId, [address]), t);
  }
  const renamed = before === name ? t('label.setSame') : t('label.setOver', { before: boldName(before) });
  const meaning = before === null ? t('label.setNew') : renamed;
  const alike = await lookAlikes([address], context);
  const lines = [fullAddress(address, settings), ...lookAlikeLines(alike, context), meaning, changing];
  return embedReply(alike.size > 0 ? 'warn' : 'good', t('label.set', { name: titleName(name) }), lines, {
    components: [row(button(t('label.goPage'), 'label:list:0'))],
  });
}

function changingLine({ messages, isAll }: { messages: number; isAll: boolean }, t: Translate): string | null {
  if (messages === 0) return null;
  return isAll ? t('label.changing', { count: messages }) : t('label.changingLatest', { max: messages });
}

function askToRemove({ address, name }: Label, { settings, t }: Context): Reply {
  const text = checksumAddress(address);
  return question(
    t('label.remove', { name: titleName(name) }),
    [fullAddress(address, settings), t('label.removeMeaning')],
    [t('label.yes'), `label:drop:${text}:${fingerprint(name)}`],
    [t('label.no'), `label:keep:${text}`],
  );
}

async function confirmRemove(interaction: ButtonUse, [text, expected]: string[], context: Context): Promise<Reply> {
  const { labels, settings, relabel, t } = context;
  const found = (await labels.list(interaction.guildId)).find(({ address }) => address === toAddress(text));
  // It may have been renamed since the question.
  if (found && fingerprint(found.name) !== expected) return askToRemove(found, context);
  if (!found || !(await labels.remove(interaction.guildId, found))) throw new UserError(t('label.removedGone'));
  const { address, name } = found;
  await record(context, 'label.remove', { address: checksumAddress(address), name });
  const changing = changingLine(await relabel(interaction.guildId, [address]), t);
  return embedReply('good', t('label.removed', { name: titleName(name) }), [fullAddress(address, settings), changing]);
}

async function list({ guildId, labels, settings, t }: Context, wanted: number): Promise<Reply> {
  const all = await labels.list(guildId);
  if (all.length === 0) return embedReply('info', t('label.listNone'), [t('label.listStart')]);
  const { page, pages, shown: listed } = pageOf(all, PER_PAGE, wanted);
  const lines = listed.flatMap(({ address, name }) => [boldName(name), fullAddress(address, settings)]);
  const turn = pager(t, page, pages, (to) => `label:list:${to}`);
  return embedReply('info', t('label.list', { count: all.length }), lines, {
    ...(pages > 1 && { footer: { text: t('reply.page', { page: page + 1, pages }) } }),
    components: rows(turn),
  });
}

async function offer(interaction: AutocompleteUse, context: Context): Promise<Choice[]> {
  const { guildId, options } = interaction;
  const names = new Map<AddressText, string | null>(await namesByAddress(guildId, context));
  if (options.getSubcommand(false) === 'set') {
    const { visible, unseen } = await seenBy(context);
    // Counterparties are those of the whole guild, so only people who see all of its channels get them.
    const met = unseen.length === 0 ? await context.history.counterparties(guildId, LATEST_DECISIONS) : [];
    for (const address of [...addressesOf(visible), ...met]) if (!names.has(address)) names.set(address, null);
  }
  const choices = [...names].map(([address, name]) => addressChoice(address, name));
  return choicesWith(options.getFocused(), choices);
}

async function named(interaction: CommandUse, { labels, settings, t }: Context): Promise<Label> {
  const all = await labels.list(interaction.guildId);
  const names = new Map(all.map(({ address, name }) => [address, name]));
  const address = readAddress(interaction.options.getString('address', true), t, { names, noName: t('label.noName') });
  const found = all.find((label) => label.address === address);
  if (!found) throw new UserError(t('label.none', { address: fullAddress(address, settings) }));
  return found;
}
