import type { APIActionRowComponent, APIButtonComponent } from 'discord.js';
import type { Button, ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { FOREVER, type Subscription } from '../../src/domain/subscription.ts';
import { cutTo, isolate } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { nameIn, wordingsOf } from '../../src/languages/definitions.ts';
import type { Translate } from '../../src/languages/index.ts';
import { record } from '../shared/audit.ts';
import { button, row, rows } from '../shared/components.ts';
import { absoluteTime, embedReply, shortAddress, withInput } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf, seenBy, unseenLine } from '../shared/subscriptions.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import { writeAsset } from '../shared/tokens.ts';
import { addressLine, silentLine } from './describe.ts';
import { named, seenOne } from './find.ts';
import { save } from './save.ts';
import { type TokenBook, tokenBook } from './token-book.ts';

type Needs = ContextWith<'guildChannels' | 'subscriptions' | 'audit' | 'tokens' | 'settings' | 'now'>;

/** How long the list's *Mute* button mutes. */
const PRESSED = '8h';
const LENGTHS: Record<string, number> = { '1h': HOUR, '8h': 8 * HOUR, '1d': DAY, '7d': 7 * DAY };

/** The durations of `/subscription mute`. */
export const MUTE_CHOICES = [
  ...Object.keys(LENGTHS).map((value) => ({ name: value, value })),
  { name: 'until I unmute it', value: 'forever' },
  { name: 'off', value: 'off' },
];

/** `/subscription mute`: mutes or unmutes one subscription, all, or a token. */
export async function mute(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t } = context;
  const until = untilOf(interaction.options.getString('duration', true), context);
  const token = interaction.options.getString('token');
  if (interaction.options.getString('subscription', true).trim().toLowerCase() === 'all') {
    return token === null ? muteAll(interaction, context, until) : muteToken(interaction, context, token, until);
  }
  if (token !== null) throw withInput(new UserError(t('subscription.mute.tokenNeedsAll')), token, t);
  return muteOne(interaction, context, await named(interaction, context), until);
}

/** `subscription:mute:<id>[:<duration>]` */
export const muteButton: Button<Needs> = {
  access: 'manage',
  response: 'reply',
  async press(interaction, [id, duration = PRESSED], context) {
    const until = untilOf(duration, context);
    return muteOne(interaction, context, await seenOne(interaction, id, context), until);
  },
};

/** One row of buttons that mute a subscription, each for another time. */
export function muteRow(
  { id, label, address }: Pick<Subscription, 'id' | 'label' | 'address'>,
  { t, language }: ContextWith,
): APIActionRowComponent<APIButtonComponent> {
  const lengths = MUTE_CHOICES.filter(({ value }) => value !== 'off').map(({ value, name }) => ({
    value,
    duration: wordingsOf(language)[`subscription mute duration=${value}`]?.name ?? name,
  }));
  const name = label === null ? shortAddress(address) : isolate(cutTo(label, 40));
  return row(
    ...lengths.map(({ value, duration }, index) =>
      button(
        index === 0 ? t('subscription.mute.press', { name, duration }) : duration,
        `subscription:mute:${id}:${value}`,
      ),
    ),
  );
}

async function muteOne(
  interaction: CommandUse | ButtonUse,
  context: Needs,
  before: Subscription,
  until: number | null,
): Promise<Reply> {
  const { t } = context;
  const after = await save(interaction, context, before, { mutedUntil: until }, 'subscription.mute');
  const name = nameOf(after);
  const title = until === null ? t('subscription.mute.ended', { name }) : t('subscription.mute.title', { name });
  // Paused subscriptions stay paused, with or without a mute.
  const lines = after.paused
    ? [until === null ? null : lasting(until, t), silentLine(after, context)]
    : [lasting(until, t)];
  return embedReply('good', title, [addressLine(after.address, context), ...lines], {
    components: rows(until === null ? [] : [button(t('subscription.mute.undo'), `subscription:mute:${after.id}:off`)]),
  });
}

/** All subscriptions that the person sees. */
async function muteAll(interaction: CommandUse, context: Needs, until: number | null): Promise<Reply> {
  const { subscriptions, t } = context;
  const { guildId } = interaction;
  const { visible, unseen } = await seenBy(interaction, context);
  const left = unseenLine(unseen, t);
  if (visible.length === 0) throw new UserError(left ?? t('subscription.mute.nothing'));
  const ids = visible.map(({ id }) => id);
  const count = await subscriptions.mute(guildId, ids, until);
  await record(interaction, context, 'subscription.mute', { all: true, ...(left !== null && { ids }), until });
  if (until !== null) return embedReply('good', t('subscription.mute.titleAll', { count }), [lasting(until, t), left]);
  const stay = await mutedTokens(guildId, context, await tokenBook(guildId, context));
  const rest = stay.length === 0 ? [] : [t('subscription.mute.tokensStay'), ...stay];
  const paused = visible.filter((one) => one.paused).length;
  return embedReply('good', t('subscription.mute.endedAll', { count }), [
    lasting(until, t),
    left,
    paused > 0 ? t('status.paused', { count: paused }) : null,
    ...rest,
  ]);
}

async function muteToken(interaction: CommandUse, context: Needs, text: string, until: number | null): Promise<Reply> {
  const { subscriptions, t } = context;
  const tokens = await tokenBook(interaction.guildId, context);
  const token = tokens.find(text);
  await subscriptions.muteToken(interaction.guildId, token, until);
  await record(interaction, context, 'subscription.mute', { token: writeAsset(token), until });
  const name = tokens.shortNameOf(token);
  const contract = token === 'native' ? null : addressLine(token, context, 'token');
  if (until === null) {
    return embedReply('good', t('subscription.mute.ended', { name }), [contract, t('subscription.mute.tokenAgain')]);
  }
  const lasts =
    until === FOREVER
      ? t('subscription.mute.tokenForever')
      : t('subscription.mute.token', { time: absoluteTime(until) });
  return embedReply('good', t('subscription.mute.title', { name }), [contract, lasts]);
}

function untilOf(duration: string, { now, t, language }: Needs): number | null {
  if (duration === 'off') return null;
  if (duration === 'forever') return FOREVER;
  const length = Object.hasOwn(LENGTHS, duration) ? LENGTHS[duration] : undefined;
  if (length !== undefined) return now() + length;
  const known = MUTE_CHOICES.map(({ value }) => value);
  const option = nameIn(language, 'subscription mute duration');
  throw withInput(invalidChoiceError(option, duration, known, t), duration, t);
}

function lasting(until: number | null, t: Translate): string {
  if (until === null) return t('subscription.mute.again');
  return until === FOREVER
    ? t('subscription.mute.forever')
    : t('subscription.mute.until', { time: absoluteTime(until) });
}

/** The tokens that are muted in this guild, one per line. */
export async function mutedTokens(
  guildId: string,
  context: ContextWith<'subscriptions' | 'now'>,
  tokens: TokenBook,
): Promise<string[]> {
  const { subscriptions, now, t } = context;
  const mutes = await subscriptions.tokenMutes(guildId, now());
  return mutes.map(({ token: asset, until }) => {
    const token = tokens.nameOf(asset);
    return until === FOREVER
      ? `- ${t('subscription.list.mutedTokenForever', { token })}`
      : `- ${t('subscription.list.mutedToken', { token, time: absoluteTime(until) })}`;
  });
}
