import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { checksumAddress } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { amountCell, csvLine, FILE_BYTES, idCell } from '../domain/csv.ts';
import { viewOf } from '../domain/story.ts';
import { plainText } from '../domain/text.ts';

/** Rows that are made before the event loop has a turn. */
const ROWS_A_TURN = 500;

/** A CSV file with a header line and a row for each alert: `used` of them, from the front, have room in it. */
export async function csvOf(alerts: readonly Alert[]): Promise<{ text: string; used: number }> {
  const rows = ['received,transaction,block,kind,from,to,token,symbol,amount,token id,times,direction,marks'];
  let bytes = rows[0]!.length;
  for (const [index, alert] of alerts.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turnOfTheLoop();
    const row = rowOf(alert);
    bytes += Buffer.byteLength(row) + 2;
    if (bytes > FILE_BYTES) break;
    rows.push(row);
  }
  return { text: rows.join('\r\n'), used: rows.length - 1 };
}

function rowOf(alert: Alert): string {
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
  ]);
}
