import { ButtonStyle } from 'discord.js';
import type { Button, CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Notification, RemovalAnswer } from '../../src/upstream/notification.ts';
import { explain } from '../parts/failure.ts';
import { projectOf } from '../parts/project.ts';
import { count, note, press, row } from '../parts/reply.ts';
import { type Pasted, readAddresses } from './addresses.ts';

/** What is asked for in the preview and taken up by its button; kept in the audit log. */
interface Wish {
  webhook: string;
  addresses: AddressText[];
}

/** The names under which the steps stand in the audit log. */
const ASKED = 'webhook.remove.asked';
const CONFIRMED = 'webhook.remove.confirmed';
const CANCELLED = 'webhook.remove.cancelled';
const REMOVED = 'webhook.remove';
const FORGOTTEN = 'webhook.remove.forgotten';

/** As long as Discord lets a private answer be changed. */
const OPEN_MS = 15 * 60_000;
const LOOK_MS = 3_000;

/** `/webhook remove`: says what would happen, and asks. */
export async function preview(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const { guildId, options } = interaction;
  const { notification, scope } = await projectOf(context, guildId);
  const webhook = options.getString('webhook', true).trim();
  if (!/^[\w-]{1,64}$/.test(webhook)) {
    throw new UserError(
      'A webhook’s id is letters and digits, usually 24 of them. `/webhook list` shows the ids where the service ' +
        'gives them.',
    );
  }
  const pasted = readAddresses(options.getString('addresses', true));
  if (pasted.addresses.length === 0) {
    throw new UserError(`There is no address in this. ${context.t(`address.${pasted.wrong[0]?.fault ?? 'form'}`)}`);
  }
  const { free, needed, silent } = await standing(pasted.addresses, guildId, scope, context);
  const lines = [
    ...listed(free, 'Leaves the webhook', 'Leave the webhook'),
    ...listed(needed, 'Stays, because another server of this bot watches it', 'Stay, because other servers watch them'),
    ...wrongLines(context.t, pasted),
    ...silentLines(silent),
    await unknownLine(notification, webhook),
  ];
  const title = `Remove ${count(free.length, 'address', 'addresses')} from webhook ${inCode(webhook, '')}?`;
  if (free.length === 0) return note('warn', 'Nothing to remove', lines);
  const wish: Wish = { webhook, addresses: free };
  const id = await record(interaction, context, ASKED, wish);
  const buttons = row(
    press('Remove', `webhook:confirm:${id}`, ButtonStyle.Danger),
    press('Cancel', `webhook:cancel:${id}`),
  );
  return note('danger', title, lines, { components: [buttons] });
}

/** `webhook:confirm:<entry>` */
export const confirmButton: Button = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    const { notification, scope } = await projectOf(context, interaction.guildId);
    const wish = await takeUp(interaction, context, entry, ASKED, CONFIRMED);
    // Another server may have started to watch one of them since the preview.
    const { free, needed, silent } = await standing(wish.addresses, interaction.guildId, scope, context);
    if (free.length === 0) return note('warn', 'Nothing was removed', listed(needed, 'Still needed', 'Still needed'));
    const answer = await notification.removeAddresses(wish.webhook, free.map(checksumAddress));
    if (answer.status !== 'ok') {
      await record(interaction, context, 'webhook.remove.failed', { ...wish, addresses: free, outcome: answer.status });
      return note('danger', 'Not removed', [
        explain(context.t, answer, 'notification'),
        answer.status === 'timeout' || answer.status === 'unreadable'
          ? 'It may have been done all the same; doing it again does no harm.'
          : null,
      ]);
    }
    const done = await record(interaction, context, REMOVED, { ...wish, addresses: free, outcome: answer });
    const offer = press(
      `Also remove ${count(silent.length, 'subscription')} here`,
      `webhook:forget:${done}`,
      ButtonStyle.Danger,
    );
    return note(
      'good',
      `Webhook ${inCode(wish.webhook, '')}`,
      [
        outcomeOf(answer, free.length),
        ...listed(free, 'Asked for', 'Asked for'),
        ...listed(needed, 'Stays: needed elsewhere', 'Stay: needed elsewhere'),
        ...silentLines(silent),
      ],
      { components: silent.length > 0 ? [row(offer)] : [] },
    );
  },
};

/** `webhook:cancel:<entry>` */
export const cancelButton: Button = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    await takeUp(interaction, context, entry, ASKED, CANCELLED);
    return note('info', 'Cancelled', ['Nothing was changed.']);
  },
};

/** `webhook:forget:<entry>`: the subscriptions here that fell silent. */
export const forgetButton: Button = {
  access: 'manage',
  answer: 'update',
  async press(interaction, [entry], context) {
    const { addresses } = await takeUp(interaction, context, entry, REMOVED, FORGOTTEN);
    const { scope } = await projectOf(context, interaction.guildId);
    const { silent } = await standing(addresses, interaction.guildId, scope, context);
    for (const { id } of silent) await context.store.subscriptions.remove(interaction.guildId, id);
    return note('good', `🗑️ Removed ${count(silent.length, 'subscription')} here`, silentNames(silent));
  },
};

type Standing = Awaited<ReturnType<typeof standing>>;

/** Which addresses nobody else needs, which somebody does, and what falls silent here. */
async function standing(addresses: AddressText[], guildId: string, scope: number, { store }: CommandContext) {
  const [all, scopes] = await Promise.all([store.subscriptions.watching(addresses), store.projects.scopes()]);
  // What other projects' servers watch does not come over this webhook.
  const watching = all.filter((one) => (scopes.get(one.guildId) ?? 0) === scope);
  const elsewhere = new Set(watching.filter((one) => one.guildId !== guildId).map(({ address }) => address));
  return {
    free: addresses.filter((address) => !elsewhere.has(address)),
    needed: addresses.filter((address) => elsewhere.has(address)),
    silent: watching.filter((one) => one.guildId === guildId && !elsewhere.has(one.address)),
  };
}

function listed(addresses: AddressText[], one: string, many: string): string[] {
  if (addresses.length === 0) return [];
  const shown = addresses.slice(0, 20).map((address) => `\`${checksumAddress(address)}\``);
  const more = addresses.length > shown.length ? [`…and ${addresses.length - shown.length} more`] : [];
  return [`**${addresses.length === 1 ? one : `${many} (${addresses.length})`}**`, ...shown, ...more];
}

function wrongLines(t: Translate, { wrong }: Pasted): string[] {
  if (wrong.length === 0) return [];
  const shown = wrong.slice(0, 5).map(({ text, fault }) => `${inCode(text, 'unreadable')}: ${t(`address.${fault}`)}`);
  const more = wrong.length > shown.length ? [`…and ${wrong.length - shown.length} more`] : [];
  return [
    `**Left out: ${count(wrong.length, 'entry that is', 'entries that are')} no right address**`,
    ...shown,
    ...more,
  ];
}

function silentLines(silent: Standing['silent']): string[] {
  return silent.length === 0 ? [] : ['**Falls silent here**', ...silentNames(silent)];
}

function silentNames(silent: Standing['silent']): string[] {
  return silent
    .slice(0, 20)
    .map(({ id, label, channelId }) => `${inCode(label, `subscription ${id}`)} in <#${channelId}>`);
}

/** A hint, not a refusal: the service's list need not give ids. */
async function unknownLine(notification: Notification, webhook: string): Promise<string | null> {
  const answer = await notification.webhooks(LOOK_MS);
  if (answer.status !== 'ok' || answer.webhooks.length === 0) return null;
  const ids = answer.webhooks.map(({ id }) => id);
  if (ids.includes(null) || ids.includes(webhook)) return null;
  return '⚠️ The project has no webhook with this id; check it with `/webhook list`.';
}

function outcomeOf({ message, deletedCount }: Extract<RemovalAnswer, { status: 'ok' }>, asked: number): string {
  if (deletedCount === null) return `Removed. The service says: ${inCode(message, 'done')}.`;
  if (deletedCount === 0) return 'Nothing changed: none of these was in the webhook’s scope.';
  const rest = asked - deletedCount;
  return `Removed ${count(deletedCount, 'address', 'addresses')}.${rest > 0 ? ` The other ${rest} were not in its scope.` : ''}`;
}

async function takeUp(
  { guildId, user }: { guildId: string; user: { id: string } },
  { store, now }: CommandContext,
  entry: string | undefined,
  from: string,
  to: string,
): Promise<Wish> {
  const ask = { guildId, userId: user.id, id: Number(entry), from, to, since: now() - OPEN_MS };
  const wish = Number.isSafeInteger(ask.id) ? ((await store.servers.takeUp(ask)) as Wish | null) : null;
  if (!wish) throw new UserError('This was answered already, or asked too long ago. Use `/webhook remove` again.');
  return wish;
}

function record(
  { guildId, user }: { guildId: string; user: { id: string } },
  { store, now }: CommandContext,
  action: string,
  detail: unknown,
): Promise<number> {
  return store.servers.record({ guildId, userId: user.id, action, detail, at: now() });
}
