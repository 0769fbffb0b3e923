import type { AddressText } from '../../src/domain/address.ts';
import type { ExplorerRoot } from '../../src/domain/explorer.ts';
import { type LabelRefusal, MAX_LABELS } from '../../src/domain/guild.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { asLabel, labelLooksLikeLink, plainText } from '../../src/domain/text.ts';
import { shortAddress } from '../../src/domain/typed-address.ts';
import { ifRefused, UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { fullAddress } from './reply.ts';
import type { CommandServices, Context } from './services.ts';

export const MAX_NAME = 60;

export async function namesByAddress(
  guildId: string,
  { labels }: Pick<CommandServices, 'labels'>,
): Promise<Map<AddressText, string>> {
  return new Map((await labels.list(guildId)).map(({ address, name }) => [address, name]));
}

/** A name of the server's address book for titles and bold lines, as alerts show it. */
export const titleName = (name: string | null | undefined, fallback = ''): string => asLabel(name, fallback, MAX_NAME);

/** A name in bold, for the middle of a sentence; the fallback stays as it is. */
export function boldName(name: string | null | undefined, fallback = ''): string {
  const shown = titleName(name);
  return shown === '' ? fallback : `**${shown}**`;
}

/** An address behind its name, if it has one. */
export const namedAddress = (name: string | null | undefined, address: AddressText, settings: ExplorerRoot): string =>
  [boldName(name), fullAddress(address, settings)].filter(Boolean).join(' ');

/** A subscription's short name: its label, or its shortened address. */
export function nameOf({ label, address }: Pick<Subscription, 'label' | 'address'>): string {
  return titleName(label, `\`${shortAddress(address)}\``);
}

/** A name as the server's address book takes it; throws a {@link UserError}. */
export function readName(text: string, t: Translate): string {
  if (labelLooksLikeLink(text)) throw new UserError(t('label.link'));
  const name = plainText(text, MAX_NAME);
  if (name === null) throw new UserError(t('label.empty'));
  if (name.endsWith('…') && !text.trimEnd().endsWith('…')) {
    throw new UserError(t('label.long', { max: MAX_NAME }));
  }
  return name;
}

/** A name as the server's address book takes it; null: it does not take this one. */
export const nameOrNull = (label: string, t: Translate): string | null =>
  ifRefused<string | null>(
    () => readName(label, t),
    () => null,
  );

/** The error for a name that an address did not get. */
export function notNamed(refusal: LabelRefusal, { settings, t }: Context): UserError {
  if (refusal.status === 'labels-full') return new UserError(t('label.full', { count: MAX_LABELS }));
  const { name, address } = refusal;
  const shown = { name: boldName(name), address: fullAddress(address, settings) };
  return new UserError(t('label.taken', shown));
}
