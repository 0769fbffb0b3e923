import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import { shortAddress } from '../../src/domain/address.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { FOREVER, isMuted, type Subscription } from '../../src/domain/subscription.ts';
import { cutTo, isolate } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { type Translate, wordingsOf } from '../../src/languages/index.ts';
import { seenBy, unseenLine } from '../shared/channels.ts';
import { type ButtonRow, button, row, rows } from '../shared/components.ts';
import { same } from '../shared/define.ts';
import { nameOf, namesByAddress } from '../shared/names.ts';
import { record } from '../shared/records.ts';
import { absoluteTime, embedReply, fullAddress, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { readChoice } from '../shared/suggestions.ts';
import { type TokenBook, tokenBook, writeAsset } from '../shared/tokens.ts';
import { addressLine, silentLine } from './describe.ts';
import { named, seenOne } from './find.ts';
import { save } from './save.ts';

/** How long the list's *Mute* button mutes. */
const PRESSED = '8h';
const LENGTHS: Record<string, number> = { '1h': HOUR, '8h': 8 * HOUR, '1d': DAY, '7d': 7 * DAY };

export const MUTE_CHOICES = [
  ...same(...Object.keys(LENGTHS)),
  { name: 'until I unmute it', value: 'forever' },
  { name: 'off', value: 'off' },
];

export async function mute(interaction: CommandUse, context: Context): Promise<Reply> {
  const { t } = context;
  const until = untilOf(interaction.options.getString('duration', true), context);
  const token = interaction.options.getString('token');
  if (interaction.options.getString('subscription', true).trim().toLowerCase() === 'all') {
    return token === null ? muteAll(context, until) : muteToken(context, token, until);
  }
  if (token !== null) throw withInput(new UserError(t('subscription.mute.tokenNeedsAll')), token, t);
  return muteOne(context, await named(interaction, context), until);
}

export const muteButton: Button<Context> = {
  response: 'reply',
  async press(_, [id, duration = PRESSED], context) {
    const until = untilOf(duration, context);
    if (id === 'all') return muteAll(context, until);
    if (id === 'native' || id?.startsWith('0x')) return muteToken(context, id, until);
    return muteOne(context, await seenOne(id, context), until);
  },
};

export function muteRow(
  { id, label, address }: Pick<Subscription, 'id' | 'label' | 'address'>,
  { t, language }: Context,
): ButtonRow {
  const name = label === null ? shortAddress(address) : isolate(cutTo(label, 40));
  const lengths = MUTE_CHOICES.filter(({ value }) => value !== 'off');
  const buttons = lengths.map(({ value, name: english }, index) => {
    const duration = wordingsOf(language)[`subscription mute duration=${value}`]?.name ?? english;
    const text = index === 0 ? t('subscription.mute.press', { name, duration }) : duration;
    return button(text, `subscription:mute:${id}:${value}`);
  });
  return row(...buttons);
}

async function muteOne(context: Context, before: Subscription, until: number | null): Promise<Reply> {
  const { t } = context;
  const wasMuted = isMuted(before, context.now());
  const after = await save(context, before, { mutedUntil: until }, 'subscription.mute');
  const name = nameOf(after);
  const title = titleOf(until, wasMuted, name, t);
  // Paused subscriptions stay paused, with or without a mute.
  const lines = after.paused
    ? [until === null ? null : lasting(until, t), silentLine(after, context)]
    : [until === null && !wasMuted ? null : lasting(until, t)];
  return embedReply('good', title, [addressLine(after, context), ...lines], {
    components: undoRow(String(after.id), until, t),
  });
}

function titleOf(until: number | null, wasMuted: boolean, name: string, t: Translate): string {
  if (until !== null) return t('subscription.mute.title', { name });
  return wasMuted ? t('subscription.mute.ended', { name }) : t('subscription.mute.notMuted', { name });
}

const undoRow = (what: string, until: number | null, t: Translate) =>
  rows(until === null ? [] : [button(t('subscription.mute.undo'), `subscription:mute:${what}:off`)]);

async function muteAll(context: Context, until: number | null): Promise<Reply> {
  const { guildId, subscriptions, t } = context;
  const { visible, unseen } = await seenBy(context);
  const unseenText = unseenLine(unseen, t);
  if (visible.length === 0) throw new UserError(unseenText ?? t('subscription.mute.nothing'));
  const ids = visible.map(({ id }) => id);
  const count = await subscriptions.mute(guildId, ids, until);
  const muted = visible.filter((subscription) => isMuted(subscription, context.now())).length;
  if (until !== null || muted > 0)
    await record(context, 'subscription.mute', { all: true, ...(unseenText !== null && { ids }), until });
  if (until !== null) {
    return embedReply('good', t('subscription.mute.titleAll', { count }), [lasting(until, t), unseenText], {
      components: undoRow('all', until, t),
    });
  }
  const stay = await mutedTokens(context, await tokenBook(context));
  const rest = stay.length === 0 ? [] : [t('subscription.mute.tokensStay'), ...stay];
  const paused = visible.filter((subscription) => subscription.paused).length;
  const title = muted > 0 ? t('subscription.mute.endedAll', { count: muted }) : t('subscription.mute.noneMuted');
  return embedReply(muted > 0 ? 'good' : 'info', title, [
    muted > 0 ? lasting(until, t) : null,
    unseenText,
    paused > 0 ? t('status.paused', { count: paused }) : null,
    ...rest,
  ]);
}

async function muteToken(context: Context, text: string, until: number | null): Promise<Reply> {
  const { interaction, subscriptions, t } = context;
  const tokens = await tokenBook(context, await namesByAddress(interaction.guildId, context));
  const token = tokens.find(text);
  const before = await subscriptions.tokenMutes(interaction.guildId, context.now());
  const wasMuted = before.some((mute) => mute.token === token);
  await subscriptions.muteToken(interaction.guildId, token, until);
  await record(context, 'subscription.mute', { token: writeAsset(token), until });
  const name = tokens.shortNameOf(token);
  const contract = token === 'native' ? null : `-# ${fullAddress(token, context.settings, 'token')}`;
  const again = wasMuted ? t('subscription.mute.tokenAgain') : null;
  const words = until === FOREVER ? 'tokenForever' : 'token';
  const lasts = until === null ? again : t(`subscription.mute.${words}`, { time: absoluteTime(until) });
  const tone = until !== null || wasMuted ? 'good' : 'info';
  return embedReply(tone, titleOf(until, wasMuted, name, t), [contract, lasts], {
    components: undoRow(writeAsset(token), until, t),
  });
}

function untilOf(duration: string, context: Context): number | null {
  const known = MUTE_CHOICES.map(({ value }) => value);
  const chosen = readChoice('subscription mute duration', duration, known, context);
  if (chosen === 'off') return null;
  return chosen === 'forever' ? FOREVER : context.now() + LENGTHS[chosen]!;
}

function lasting(until: number | null, t: Translate): string {
  if (until === null) return t('subscription.mute.again');
  return t(`subscription.mute.${until === FOREVER ? 'forever' : 'until'}`, { time: absoluteTime(until) });
}

export async function mutedTokens(context: Context, tokens: TokenBook): Promise<string[]> {
  const { guildId, subscriptions, now, t } = context;
  const mutes = await subscriptions.tokenMutes(guildId, now());
  return mutes.map(({ token: asset, until }) => {
    const values = { token: tokens.nameOf(asset), time: absoluteTime(until) };
    return `- ${t(`subscription.list.${until === FOREVER ? 'mutedTokenForever' : 'mutedToken'}`, values)}`;
  });
}
