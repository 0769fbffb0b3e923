import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { directionOf, type Movement } from '../../domain/activity.ts';
import { type AddressText, checksumAddress } from '../../domain/address.ts';
import { type Alert, viewOf } from '../../domain/alert.ts';
import { amountCell, csvLine, idCell, MAX_FILE_BYTES } from '../../domain/csv.ts';
import type { Network } from '../../domain/network.ts';
import { plainText } from '../../domain/text.ts';
import type { RenderSettings } from './wording.ts';

/** Rows that are made before the event loop handles other events. */
const ROWS_PER_TURN = 500;

/** The first rows that fit into a file below its head; `left`: how many do not. */
async function fittingRows<Item>(
  head: string,
  items: Iterable<Item> | AsyncIterable<Item>,
  rowOf: (item: Item) => string,
): Promise<{ rows: string[]; omitted: number }> {
  const rows: string[] = [];
  let bytes = head.length;
  let omitted = 0;
  for await (const item of items) {
    const row = omitted > 0 ? '' : rowOf(item);
    bytes += Buffer.byteLength(row) + 2;
    if (bytes > MAX_FILE_BYTES) omitted++;
    else if (rows.push(row) % ROWS_PER_TURN === 0) await turnOfTheLoop();
  }
  return { rows, omitted };
}

const ALERTS_HEAD = 'received,transaction,block,kind,from,to,token,symbol,amount,token id,times,direction,warnings';

/** `used`: how many alerts fit, from the first one. */
export async function alertsCsv(
  alerts: readonly Alert[],
  networks?: RenderSettings['networks'],
): Promise<{ text: string; used: number }> {
  const head = networks ? `${ALERTS_HEAD},network` : ALERTS_HEAD;
  const { rows } = await fittingRows(head, alerts, (alert) => rowOf(alert, networks));
  return { text: [head, ...rows].join('\r\n'), used: rows.length };
}

function rowOf(alert: Alert, networks: RenderSettings['networks']): string {
  const { createdAt, transfer, count, warnings } = alert;
  return csvLine([
    new Date(createdAt).toISOString(),
    transfer.txHash,
    transfer.blockNumber,
    transfer.kind,
    transfer.from && checksumAddress(transfer.from),
    transfer.to && checksumAddress(transfer.to),
    transfer.token && checksumAddress(transfer.token),
    plainText(transfer.tokenSymbol),
    amountCell(transfer),
    idCell(transfer),
    count,
    viewOf(alert),
    warnings.map(({ kind }) => kind).join(' '),
    ...(networks ? [networks.get(alert.network)?.title ?? `#${alert.network}`] : []),
  ]);
}

const ACTIVITY_HEAD =
  'received,transaction,block,direction,kind,from,from name,to,to name,token,symbol,amount,token id,times,posted';

/**
 * Oldest first, between the rows `above` and `below`; `movements` are latest first. `left`: how many of the oldest do
 * not fit.
 */
export async function activityCsv(
  movements: AsyncIterable<Movement>,
  address: AddressText,
  names: ReadonlyMap<AddressText, string>,
  networks: readonly Network[],
  { above, below }: { above: readonly string[]; below: readonly string[] },
): Promise<{ csv: string; omitted: number }> {
  const called = new Map(networks.map(({ id, name }) => [id, name]));
  const head = called.size > 1 ? `${ACTIVITY_HEAD},network` : ACTIVITY_HEAD;
  const { rows, omitted } = await fittingRows(head, movements, (movement) =>
    activityRow(movement, address, names, called),
  );
  return { csv: [head, ...above, ...rows.reverse(), ...below].join('\r\n'), omitted };
}

function activityRow(
  { network, at, transfer, count, hidden }: Movement,
  address: AddressText,
  names: ReadonlyMap<AddressText, string>,
  networks: ReadonlyMap<number, string>,
): string {
  const { from, to, token } = transfer;
  const party = (party: AddressText | null) => [party && checksumAddress(party), party && (names.get(party) ?? null)];
  return csvLine([
    new Date(at).toISOString(),
    transfer.txHash,
    transfer.blockNumber,
    directionOf(address, transfer),
    transfer.kind,
    ...party(from),
    ...party(to),
    token && checksumAddress(token),
    plainText(transfer.tokenSymbol),
    amountCell(transfer),
    idCell(transfer),
    count,
    hidden === null ? 'yes' : `no: ${hidden}`,
    ...(networks.size > 1 ? [networks.get(network) ?? `#${network}`] : []),
  ]);
}
