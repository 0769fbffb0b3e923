import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { checksumAddress } from '../domain/address.ts';
import { amountCell, csvLine } from '../domain/csv.ts';
import { viewOf } from '../domain/story.ts';
import { plainText } from '../domain/text.ts';
import type { ClaimedAlert } from '../store/alerts.ts';

/** Rows that are made before the event loop has a turn. */
const ROWS_A_TURN = 500;

/** Every alert as a row of a CSV file with a header line. */
export async function csvOf(alerts: ClaimedAlert[]): Promise<string> {
  const rows = ['received,transaction,block,kind,from,to,token,symbol,amount,token id,times,direction,marks'];
  for (const [index, alert] of alerts.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turnOfTheLoop();
    rows.push(rowOf(alert));
  }
  return rows.join('\r\n');
}

function rowOf(alert: ClaimedAlert): string {
  const { createdAt, transfer, count, marks } = alert;
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
    transfer.tokenId,
    count,
    viewOf(alert),
    marks.map(({ kind }) => kind).join(' '),
  ]);
}
