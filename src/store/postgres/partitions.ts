import { DAY } from '../../domain/clock.ts';
import type { Statements } from './connection.ts';

/**
 * Transfers are in one partition per day, with their deliveries and decisions: deleting a day drops the partition
 * instead of deleting its rows. A transfer's id begins with the day on which it was seen, so it shows the partition.
 */

/** Ids per day. Those of the first "day" come from a database in which ids have no day: such a transfer was moved here. */
export const IDS_PER_DAY = 2 ** 33;

/** The first id of the day that a time is in. */
export const firstIdOf = (time: number): number => Math.floor(time / DAY) * IDS_PER_DAY;

/** The id of a new transfer, in SQL. */
export const newId = (seenAt: string): string =>
  `${seenAt} / ${DAY} * ${IDS_PER_DAY} + nextval('transfer_numbers') % ${IDS_PER_DAY}`;

/** The tables with a partition for each day. */
export const PARTITIONED = ['transfers', 'deliveries', 'decisions'] as const;

/**
 * A transfer's key is unique over all days: the engine keeps every key in one table, whose rows come and go with those of
 * the transfers. What belongs to a transfer goes with it, as with SQLite's foreign keys.
 */
export const PARTITIONING = `
CREATE TABLE transfer_keys (key BYTEA PRIMARY KEY, transfer_id BIGINT NOT NULL);
CREATE FUNCTION keep_transfer_keys() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO transfer_keys (key, transfer_id) SELECT key, id FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_added AFTER INSERT ON transfers REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION keep_transfer_keys();
CREATE FUNCTION drop_transfer_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE gone_ids bigint[] := ARRAY(SELECT id FROM gone);
BEGIN
  DELETE FROM transfer_keys k USING gone WHERE k.key = gone.key AND k.transfer_id = gone.id;
  DELETE FROM deliveries WHERE transfer_id = ANY(gone_ids);
  DELETE FROM decisions WHERE transfer_id = ANY(gone_ids);
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_gone AFTER DELETE ON transfers REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_transfer_parts();
CREATE FUNCTION add_days(days bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE day bigint; parent name; part name;
BEGIN
  FOREACH day IN ARRAY days LOOP
    CONTINUE WHEN to_regclass('transfers_' || day) IS NOT NULL;
    FOREACH parent IN ARRAY ARRAY['${PARTITIONED.join("', '")}'] LOOP
      part := parent || '_' || day;
      EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)', part, parent);
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
        parent, part, day * ${IDS_PER_DAY}, (day + 1) * ${IDS_PER_DAY});
    END LOOP;
  END LOOP;
END $$;
SELECT add_days(ARRAY[0]);
`;

/** Makes room for transfers with these ids, or of these times (`IDS_PER_DAY` per day). */
export async function addPartitions(sql: Pick<Statements, 'run'>, ids: readonly number[]): Promise<void> {
  const days = [...new Set(ids.map((id) => Math.floor(id / IDS_PER_DAY)))];
  await sql.run('SELECT add_days($1::bigint[])', days);
}

/** The first day behind `after` that has a partition and was over by then. */
export async function nextDay(sql: Statements, after: number, before: number): Promise<number | null> {
  const found = await sql.get<{ day: number | null }>(
    `SELECT min(day) AS day FROM (
       SELECT substring(relname FROM '[0-9]+$')::bigint AS day FROM pg_inherits JOIN pg_class ON oid = inhrelid
       WHERE inhparent = 'transfers'::regclass) AS days
     WHERE day > $1 AND (day + 1) * ${DAY} <= $2`,
    after,
    before,
  );
  return found!.day;
}
