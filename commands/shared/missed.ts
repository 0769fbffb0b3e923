import type { APIButtonComponent } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import type { MissedTransfer } from '../../src/domain/completeness.ts';
import type { AuditEntry } from '../../src/domain/guild.ts';
import { mergedKind, type Transfer } from '../../src/domain/transfer.ts';
import type { Translate } from '../../src/languages/index.ts';
import { button, MAX_ROW_BUTTONS } from './components.ts';
import { namedAddress, namesByAddress } from './names.ts';
import { hasSeveral, namedButton } from './networks.ts';
import { firstOf, relativeTime } from './reply.ts';
import type { CommandServices, NetworkServices } from './services.ts';
import { EVERY_TYPE, FILLED, type Posting, postingHere, SOON_MS, webhookButtons, withAddresses } from './webhooks.ts';

/** Missed transfers of one guild and network with the same cause. */
export interface Gap {
  on: NetworkServices;
  cause:
    | { kind: 'no-webhook' | 'event-type' | 'unknown' }
    /** A webhook got the address only then. */
    | { kind: 'added'; at: number }
    | { kind: 'silent'; from: number; to: number | null };
  addresses: AddressText[];
  names: ReadonlyMap<AddressText, string>;
  /** When each transfer was found, by its ID: several subscriptions may have matched it. */
  found: Map<number, number>;
}

const SHOWN_MS = 30 * DAY;
const MAX_MISSED = 200;
/** A service that delivers nothing for this long while something moves is silent. */
const SILENT_MS = 10 * MINUTE;
/** Of the audit log, the latest ones. */
const MAX_ENTRIES = 500;
const MAX_ADDRESSES = 3;

/** Causes of more than one missed transfer, the latest first. */
export async function gapsOf(
  guildId: string,
  services: CommandServices,
  isSeen: (one: MissedTransfer) => boolean = () => true,
): Promise<Gap[]> {
  const all = await services.chainChecks.missed(guildId, services.now() - SHOWN_MS);
  if (all.length === 0) return [];
  const watched = new Set((await services.subscriptions.list(guildId)).map(({ address }) => address));
  const missed = all.filter((transfer) => watched.has(transfer.address) && isSeen(transfer)).slice(0, MAX_MISSED);
  const names = await namesByAddress(guildId, services);
  const gaps = new Map<string, Gap>();
  const { entries } = await services.audit.page(guildId, 0, MAX_ENTRIES);
  const additions = entries.filter(({ action }) => action === FILLED);
  for (const on of services.networks) {
    const here = missed.filter(({ network }) => network === on.network.id);
    const posting = here.length === 0 ? null : await postingOf(guildId, on, services);
    for (const transfer of here) {
      const cause = await causeOf(transfer, posting, additions, services);
      const key = JSON.stringify([on.network.id, cause]);
      const gap: Gap = gaps.get(key) ?? { on, cause, addresses: [], names, found: new Map() };
      gaps.set(key, gap);
      gap.found.set(transfer.transferId, transfer.at);
      if (!gap.addresses.includes(transfer.address)) gap.addresses.push(transfer.address);
    }
  }
  return [...gaps.values()].filter(({ found }) => found.size > 1);
}

/** The webhooks that post here now; null: they cannot be read. */
async function postingOf(guildId: string, on: NetworkServices, services: CommandServices): Promise<Posting[] | null> {
  const access = await on.projects.accessOf(guildId);
  if (access.status !== 'ready') return null;
  const response = await postingHere(access, services, SOON_MS);
  return response.status === 'ok' ? withAddresses(access, response.webhooks) : null;
}

function isAbout({ detail }: AuditEntry, { address, network }: MissedTransfer): boolean {
  const { addresses, network: its = network } = detail as { addresses?: unknown; network?: unknown };
  return its === network && Array.isArray(addresses) && addresses.includes(address);
}

async function causeOf(
  missed: MissedTransfer,
  posting: readonly Posting[] | null,
  additions: readonly AuditEntry[],
  { chainChecks, now }: CommandServices,
): Promise<Gap['cause']> {
  const { address, transfer, scope, minedAt } = missed;
  const holding = posting?.filter(({ addresses }) => addresses === null || addresses.has(address));
  if (holding?.length === 0) return { kind: 'no-webhook' };
  if (holding && !holding.some(({ eventType }) => delivers(eventType, transfer))) return { kind: 'event-type' };
  const added = additions.findLast((entry) => entry.at > minedAt && isAbout(entry, missed));
  if (added) return { kind: 'added', at: added.at };
  const { before: from, after: to } = await chainChecks.deliveredAround(scope, minedAt);
  return from !== null && (to ?? now()) - from >= SILENT_MS ? { kind: 'silent', from, to } : { kind: 'unknown' };
}

/** Whether a webhook of this type delivers such transfers; the types of future services deliver all. */
function delivers(eventType: string, { kind }: Transfer): boolean {
  const type = eventType.toUpperCase().replace('-', '');
  if (type === EVERY_TYPE || !/^(NATIVE|ERC20|ERC721)$/.test(type)) return true;
  return { native: 'NATIVE', erc20: 'ERC20', nft: 'ERC721', unknown: type }[mergedKind(kind)] === type;
}

export function missedLine(t: Translate, { on, cause, addresses, names, found }: Gap, isSeveral: boolean): string {
  const shown = firstOf(t, addresses, MAX_ADDRESSES, (address) =>
    namedAddress(names.get(address), address, on.settings),
  );
  const line = t('chain.missed', {
    count: found.size,
    ago: relativeTime(Math.max(...found.values())),
    why: whyOf(t, cause, shown.join(t('reply.comma'))),
  });
  return isSeveral ? `**${on.network.title}**: ${line}` : line;
}

function whyOf(t: Translate, cause: Gap['cause'], addresses: string): string {
  if (cause.kind === 'added') return t('chain.why.added', { addresses, ago: relativeTime(cause.at) });
  if (cause.kind !== 'silent') return t(`chain.why.${cause.kind}`, { addresses });
  const from = relativeTime(cause.from);
  if (cause.to === null) return t('chain.why.silentSince', { addresses, from });
  return t('chain.why.silent', { addresses, from, to: relativeTime(cause.to) });
}

/** `withCheck`: also a button for the whole check, if no other one fixes the cause. */
export function missedButtons(
  context: CommandServices & { t: Translate },
  gaps: readonly Gap[],
  withCheck: boolean,
): APIButtonComponent[] {
  const { t } = context;
  const count = (those: readonly Gap[]) => those.reduce((sum, { addresses }) => sum + addresses.length, 0);
  const of = (kind: Gap['cause']['kind']) => gaps.filter(({ cause }) => cause.kind === kind);
  const lacking = of('no-webhook');
  const fills = hasSeveral(context.settings)
    ? [webhookButtons.addEverywhere(t)]
    : [webhookButtons.add(t, count(lacking))];
  const moves = [...Map.groupBy(of('event-type'), ({ on }) => on)].flatMap(([on, those]) =>
    namedButton(webhookButtons.move(t, count(those)), { ...context, ...on }),
  );
  const isOpen = withCheck && gaps.some(({ cause }) => cause.kind === 'silent' || cause.kind === 'unknown');
  return [
    ...(lacking.length > 0 ? fills : []),
    ...moves,
    ...(isOpen ? [button(t('chain.checkSetup'), 'setup:check')] : []),
  ].slice(0, MAX_ROW_BUTTONS);
}
