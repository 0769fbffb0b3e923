import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { type AddressText, checksumAddress } from '../../src/domain/address.ts';
import { csvLine, MAX_FILE_BYTES } from '../../src/domain/csv.ts';
import { addressesOf, type Choices, isMuted, type Subscription } from '../../src/domain/subscription.ts';
import { KIB } from '../../src/domain/units.ts';
import { UserError } from '../../src/errors.ts';
import { seenBy, unseenLine } from '../shared/channels.ts';
import { hasSeveral, NETWORK } from '../shared/networks.ts';
import { embedReply } from '../shared/reply.ts';
import type { CommandSettings, Context } from '../shared/services.ts';
import { FIELDS, type Kept, writeFields } from './fields.ts';

const KEPT_COLUMNS = Object.values(FIELDS).map(({ option }) => option);

/** The columns of a file; a row of the address book has only the first four. */
export const COLUMNS = ['type', 'address', 'channel', ...KEPT_COLUMNS, NETWORK];

type Settings = Pick<CommandSettings, 'networks' | 'hasPrices'>;

/** Amounts of dollars are offered where there are prices, and `kept` where a subscription has some. */
export const columnsFor = (settings: Settings, kept = false): string[] =>
  COLUMNS.filter(
    (column) =>
      (column !== NETWORK || hasSeveral(settings)) && (kept || settings.hasPrices || !column.endsWith('-usd')),
  );

/** Rows that are formatted before other events are handled: each may contain hundreds of addresses. */
const ROWS_PER_TURN = 10;

export const MAX_IMPORT_BYTES = 256 * KIB;

/** This many files fit into a message, even if the rows do not fill each of them. */
const MAX_FILES = 8;

/** Usually one, and each can be imported; as large as Discord allows if there would be too many for a message. */
async function writeFiles(
  subscriptions: Subscription[],
  labels: { address: AddressText; name: string }[],
  now: number,
  settings: Settings,
): Promise<string[]> {
  const rows: string[] = [];
  const columns = columnsFor(settings, subscriptions.some(countsDollars));
  for (const [index, entry] of subscriptions.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfTheLoop();
    const place = ['subscription', checksumAddress(entry.address), `<#${entry.channelId}>`];
    const mutedUntil = isMuted(entry, now) ? entry.mutedUntil : null;
    const cells = [...place, ...writeFields({ ...entry, mutedUntil }), nameOf(entry.network, settings)];
    rows.push(csvLine(cells.filter((_, index) => columns.includes(COLUMNS[index]!))));
  }
  const names = labels.map(({ address, name }) => csvLine(['label', checksumAddress(address), '', name]));
  return split([columns.join(','), ...rows, ...names].map((row) => `${row}\r\n`));
}

export const countsDollars = ({ minimumUsd, mentionMinimumUsd }: Partial<Omit<Choices, 'filters'>>): boolean =>
  (minimumUsd ?? mentionMinimumUsd ?? null) !== null;

const nameOf = (network: number | null, { networks }: Pick<CommandSettings, 'networks'>): string =>
  network === null ? 'any' : (networks.find(({ id }) => id === network)?.name ?? String(network));

/** The first row is the header, which each file gets. */
function split([head = '', ...rows]: string[]): string[] {
  const sizes = rows.map((row) => Buffer.byteLength(row));
  const sum = sizes.reduce((all, size) => all + size, 0);
  const max = sum <= MAX_FILES * MAX_IMPORT_BYTES ? MAX_IMPORT_BYTES : MAX_FILE_BYTES;
  const files: string[] = [];
  let room = 0;
  for (const [index, row] of rows.entries()) {
    const size = sizes[index]!;
    if (size > room) {
      files.push(head);
      room = max - head.length;
    }
    files[files.length - 1] += row;
    room -= size;
  }
  return files;
}

export function differing(a: Kept, b: Kept): string[] {
  const [cells, others] = [writeFields(a), writeFields(b)];
  return KEPT_COLUMNS.filter((_, index) => cells[index] !== others[index]);
}

export async function exportFile(interaction: CommandUse, context: Context): Promise<Reply> {
  const { now, t } = context;
  const { visible: subscriptions, unseen } = await seenBy(context);
  const unseenText = unseenLine(unseen, t);
  const watched = new Set(addressesOf(subscriptions));
  // Watched addresses have their names in their own rows.
  const labels = (await context.labels.list(interaction.guildId)).filter(({ address }) => !watched.has(address));
  if (subscriptions.length + labels.length === 0) throw new UserError(unseenText ?? t('subscription.export.nothing'));
  const files = await context.guildQueue.run(interaction.guildId, 'file', () =>
    writeFiles(subscriptions, labels, now(), context.settings),
  );
  const lines = [
    t('subscription.export.subscriptions', { count: subscriptions.length }),
    t('subscription.export.labels', { count: labels.length }),
    unseenText,
    files.length > 1 ? t('subscription.export.several', { count: files.length }) : null,
    t('subscription.export.next'),
  ];
  const numberOf = (index: number) => (files.length > 1 ? `-${index + 1}` : '');
  return {
    ...embedReply('info', t('subscription.export.title'), lines),
    files: files.map((data, index) => ({ name: `ledgerbell-subscriptions${numberOf(index)}.csv`, data })),
  };
}
