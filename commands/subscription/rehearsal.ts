import type { APIEmbedField } from 'discord.js';
import type { CommandContext } from '../../src/discord/command.ts';
import type { Perspective } from '../../src/domain/subscription.ts';
import type { Rehearsal, Wish } from '../../src/store/ledger.ts';
import { ago } from '../parts/reply.ts';

const DAY_MS = 24 * 3_600_000;
const LOOK_BACK_MS = 7 * DAY_MS;
/** Of more transfers only the latest are looked at: somebody waits for the answer. */
const MOST = 50_000;

const ARROWS: Record<Perspective, string> = { incoming: '📥', outgoing: '📤', self: '🔁', token: '🔁' };

/** What a subscription would have told in the last days, with examples. */
export async function rehearse(wish: Wish, context: CommandContext): Promise<APIEmbedField> {
  const { store, settings, moved, language, now, t } = context;
  const rehearsal = await store.ledger.rehearse(wish, now() - LOOK_BACK_MS, MOST);
  const examples = rehearsal.examples.map(({ transfer, perspective, seenAt }) => {
    const time = ago(seenAt);
    const linked = settings.explorerUrl !== undefined && /^0x[0-9a-f]{64}$/.test(transfer.txHash);
    const link = linked ? ` · [tx](${settings.explorerUrl}/tx/${transfer.txHash})` : '';
    return `${ARROWS[perspective]} ${moved(transfer, language)} · ${time}${link}`;
  });
  const cut = rehearsal.cut === null ? [] : [t('subscription.rehearsal.cut', { count: rehearsal.cut })];
  const lines = [sum(rehearsal, now(), t), ...examples.map((line) => line.slice(0, 280)), ...cut];
  return { name: t('subscription.rehearsal.title'), value: lines.join('\n') };
}

function sum({ related, told, since }: Rehearsal, now: number, t: CommandContext['t']): string {
  if (related === 0) return t('subscription.rehearsal.nothing');
  if (told === 0) return t('subscription.rehearsal.none', { related });
  const days = since === null ? 0 : (now - since) / DAY_MS;
  // A few hours say little about a day.
  if (days < 1) return t('subscription.rehearsal.told', { told, related });
  const daily = Math.round(told / days);
  return daily < 1
    ? t('subscription.rehearsal.toldSeldom', { told, related })
    : t('subscription.rehearsal.toldDaily', { told, related, daily });
}
