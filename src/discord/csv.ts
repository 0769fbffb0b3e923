import { checksumAddress } from '../domain/address.ts';
import { formatAmount } from '../domain/amount.ts';
import { csvLine } from '../domain/csv.ts';
import { viewOf } from '../domain/story.ts';
import { plainText } from '../domain/text.ts';
import type { ClaimedAlert } from '../store/outbox.ts';

/** Every alert as a row of a CSV file with a header line. */
export function csvOf(alerts: ClaimedAlert[]): string {
  const head = 'received,transaction,block,kind,from,to,token,symbol,amount,token id,times,direction,marks';
  const rows = alerts.map((alert) => {
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
      transfer.value === null ? null : formatAmount(transfer.value, transfer.decimals).replaceAll(',', ''),
      transfer.tokenId,
      count,
      viewOf(alert),
      marks.map(({ kind }) => kind).join(' '),
    ]);
  });
  return [head, ...rows].join('\r\n');
}
