import type { Database } from 'better-sqlite3';
import type { ActivityQuery, ActivityReport } from '../../domain/activity.ts';
import { type Movement, summarise, wayOf } from '../../domain/activity.ts';
import { type AddressText, checksumAddress } from '../../domain/address.ts';
import { amountCell, csvLine, FILE_BYTES, idCell } from '../../domain/csv.ts';
import { REASONS } from '../../domain/match.ts';
import { plainText } from '../../domain/text.ts';
import type { Transfer } from '../../domain/transfer.ts';

type AddressAndPeriod = Pick<ActivityQuery, 'guildId' | 'address' | 'since' | 'now'>;

/** A transfer that was decided about; `told`: by how many subscriptions. */
interface DecidedRow {
  id: number;
  at: number;
  told: number;
  outcome: string;
  decisions: number;
}

interface MovementRow {
  data: string;
  count: number;
  imitation: 0 | 1;
}

/** Rows of a CSV file. */
const MOST_ROWS = 20_000;

/** A text in which a reason's place is its rank. */
const RANKS = ` ${REASONS.join(' ')} `;

/** What addresses did in a period; every method stays within one guild. */
export function activityReader(db: Database) {
  // Several subscriptions may have decided about one transfer, all at one time: it was told if one of them matched. Else
  // the reason of the one that came nearest to telling it counts; SQLite takes `outcome` and `at` from the row of the max.
  const decided = db.prepare<Omit<ActivityQuery, 'channelIds' | 'timezone'> & { channels: string }, DecidedRow>(
    `SELECT transfer_id AS id, at, sum(outcome = 'matched') AS told, outcome, count(*) AS decisions,
       max(instr('${RANKS}', ' ' || outcome || ' '))
     FROM (SELECT transfer_id, at, outcome FROM decisions
       WHERE guild_id = @guildId AND at BETWEEN @since AND @now AND address = @address
         AND channel_id IN (SELECT value FROM json_each(@channels))
       ORDER BY at DESC LIMIT @most + 1)
     GROUP BY transfer_id ORDER BY 2 DESC, 1 DESC`,
  );
  const channels = db
    .prepare<AddressAndPeriod, string>(
      `SELECT DISTINCT channel_id FROM decisions
       WHERE guild_id = @guildId AND at BETWEEN @since AND @now AND address = @address`,
    )
    .pluck();
  const transferOf = db.prepare<[string, number], MovementRow>(
    `SELECT data, count, EXISTS (SELECT 1 FROM alerts a, json_each(a.marks) m WHERE a.transfer_id = t.id
       AND a.guild_id = ? AND m.value ->> 'kind' = 'imitation') AS imitation
     FROM transfers t WHERE id = ?`,
  );
  const messageOf = db.prepare<[number, string, string], { channelId: string; messageId: string }>(
    `SELECT b.channel_id AS channelId, b.message_id AS messageId FROM alerts a JOIN batches b ON b.id = a.batch_id
     WHERE a.transfer_id = ? AND a.guild_id = ? AND b.state = 'sent' AND b.message_id IS NOT NULL
       AND a.channel_id IN (SELECT value FROM json_each(?)) ORDER BY a.id LIMIT 1`,
  );
  const namesOf = db.prepare<[string], { address: AddressText; name: string }>(
    'SELECT address, name FROM labels WHERE guild_id = ?',
  );

  /** The transfers that are asked about, the latest first, without what they moved: there may be very many. */
  function decidedOf({ guildId, address, since, now, channelIds, most }: ActivityQuery) {
    const rows = decided.all({ guildId, address, since, now, most, channels: JSON.stringify(channelIds) });
    const isCut = rows.reduce((sum, { decisions }) => sum + decisions, 0) > most;
    const latest = rows.slice(0, most);
    return { rows: latest, cut: isCut ? latest.length : null };
  }

  function* movementsOf(rows: readonly DecidedRow[], guildId: string): Generator<Movement & { id: number }> {
    for (const { id, at, told, outcome } of rows) {
      const row = transferOf.get(guildId, id);
      if (!row) continue;
      const transfer = JSON.parse(row.data) as Transfer;
      const hidden = told > 0 ? null : outcome;
      yield { id, at, count: row.count, transfer, hidden, imitation: row.imitation === 1 };
    }
  }

  return {
    /** The channels that transfers of an address were decided about for. */
    activityChannels: (asked: AddressAndPeriod): string[] => channels.all(asked),

    /** What an address did in a period. */
    activity(question: ActivityQuery): ActivityReport {
      const { rows, cut } = decidedOf(question);
      const report = summarise(question.address, movementsOf(rows.toReversed(), question.guildId), question);
      const channels = JSON.stringify(question.channelIds);
      const largest = (report.largest as (ActivityReport['largest'][number] & { id: number })[]).map((movement) => ({
        ...movement,
        message: messageOf.get(movement.id, question.guildId, channels) ?? null,
      }));
      return { ...report, largest, cut };
    },

    /** The same as a CSV file's text, one row a transfer, the latest last; `left` older ones have no room. */
    activityFile(question: ActivityQuery): { csv: string; left: number; cut: number | null } {
      const { rows, cut } = decidedOf(question);
      const names = new Map(namesOf.all(question.guildId).map(({ address, name }) => [address, name]));
      const lines: string[] = [];
      let bytes = FILE_HEAD.length;
      let left = Math.max(0, rows.length - MOST_ROWS);
      for (const one of movementsOf(rows.slice(0, MOST_ROWS), question.guildId)) {
        const line = fileRow(one, question.address, names);
        bytes += Buffer.byteLength(line) + 2;
        if (bytes > FILE_BYTES) {
          left = rows.length - rows.findIndex(({ id }) => id === one.id);
          break;
        }
        lines.push(line);
      }
      return { csv: [FILE_HEAD, ...lines.reverse()].join('\r\n'), left, cut };
    },
  };
}

const FILE_HEAD =
  'received,transaction,block,direction,kind,from,from name,to,to name,token,symbol,amount,token id,times,told';

function fileRow(
  { at, transfer, count, hidden }: Movement,
  address: AddressText,
  names: ReadonlyMap<AddressText, string>,
): string {
  const { from, to, token } = transfer;
  const party = (party: AddressText | null) => [party && checksumAddress(party), party && (names.get(party) ?? null)];
  return csvLine([
    new Date(at).toISOString(),
    transfer.txHash,
    transfer.blockNumber,
    wayOf(address, transfer),
    transfer.kind,
    ...party(from),
    ...party(to),
    token && checksumAddress(token),
    plainText(transfer.tokenSymbol),
    amountCell(transfer),
    idCell(transfer),
    count,
    hidden === null ? 'yes' : `no: ${hidden}`,
  ]);
}
