import type { AddressText } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { RemovalResult } from '../../src/upstream/notification.ts';
import { boldName } from '../shared/naming.ts';
import { addressInCode, firstOf, quoted } from '../shared/reply.ts';
import type { Pasted } from './addresses.ts';
import type { RemovalEffects } from './removal-effects.ts';

/** A title with the addresses below it; empty without addresses. */
export function listed(t: Translate, addresses: AddressText[], title: 'leaves' | 'needed' | 'asked'): string[] {
  if (addresses.length === 0) return [];
  const shown = firstOf(t, addresses, 20, addressInCode);
  return [t(`webhook.remove.${title}`, { count: addresses.length }), ...shown];
}

/** The words that are not addresses, each with the reason. */
export function wrongLines(t: Translate, { wrong }: Pasted): string[] {
  if (wrong.length === 0) return [];
  const shown = firstOf(t, wrong, 5, ({ text, fault }) =>
    t('webhook.remove.wrongOne', {
      text: quoted(text, t('webhook.remove.unreadable')),
      reason: t(`address.${fault}`),
    }),
  );
  return [t('webhook.remove.wrong', { count: wrong.length }), ...shown];
}

/** The subscriptions here that get no alerts afterwards. */
export function silentLines(t: Translate, { silent, unseen }: Pick<RemovalEffects, 'silent' | 'unseen'>): string[] {
  if (silent.length + unseen === 0) return [];
  const more = unseen > 0 ? [t('setup.check.unseen', { count: unseen })] : [];
  return [t('webhook.remove.silent'), ...silentNames(t, silent), ...more];
}

/** Subscriptions by name and channel. */
export function silentNames(t: Translate, silent: RemovalEffects['silent']): string[] {
  return firstOf(t, silent, 20, ({ id, label, channelId }) =>
    t('webhook.remove.silentOne', {
      name: boldName(label, t('webhook.remove.unnamed', { id })),
      channel: `<#${channelId}>`,
    }),
  );
}

type Done = Extract<RemovalResult, { status: 'ok' }>;

/** What a removal did, as far as the service's response shows it. */
export function outcomeOf(t: Translate, { message, deletedCount }: Done, asked: number): string[] {
  if (deletedCount === 0) return [t('webhook.remove.noneThere')];
  if (deletedCount === null) {
    const text = inCode(message, '');
    return [text ? t('webhook.remove.response', { message: text }) : t('webhook.remove.noResponse')];
  }
  const rest = asked - deletedCount;
  return [
    t('webhook.remove.removed', { count: deletedCount }),
    ...(rest > 0 ? [t('webhook.remove.rest', { count: rest })] : []),
  ];
}
