export const TRANSFERS_BY_HASH = `
-- How many alerts a digest was frozen with.
ALTER TABLE batches ADD COLUMN lines INTEGER;

-- A new transfer touches one random page instead of four: it is found by the beginning of its transaction's hash, and
-- everything else is appended to its table. Keys are bytes. The transfers of a
-- transaction: WHERE substr(tx_hash, 3, 8) = substr(?, 3, 8) AND tx_hash = ?.
CREATE TABLE new_transfers (
  id INTEGER PRIMARY KEY, key BLOB NOT NULL, scope INTEGER NOT NULL, tx_hash TEXT NOT NULL,
  seen_at INTEGER NOT NULL, count INTEGER NOT NULL, bodies INTEGER NOT NULL, reorganised INTEGER NOT NULL DEFAULT 0,
  data TEXT NOT NULL
);
INSERT INTO new_transfers SELECT id, unhex(key), scope, tx_hash, seen_at, count, bodies, reorganised, data
  FROM transfers ORDER BY id;
CREATE TABLE new_deliveries (
  transfer_id INTEGER NOT NULL REFERENCES transfers ON DELETE CASCADE, key BLOB NOT NULL, count INTEGER NOT NULL,
  owed INTEGER NOT NULL, answered_at INTEGER, received INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  project_id TEXT, address_type TEXT, direction TEXT, last_at INTEGER,
  PRIMARY KEY (transfer_id, key)
) WITHOUT ROWID;
-- In the order of the index in which each is looked up, and then of the table that is written.
WITH sorted AS MATERIALIZED (SELECT * FROM deliveries ORDER BY transfer_key)
INSERT INTO new_deliveries SELECT t.id, unhex(d.key), d.count, d.owed, d.answered_at, d.received, d.seen_at,
    d.project_id, d.address_type, d.direction, d.last_at
  FROM sorted d CROSS JOIN transfers t ON t.key = d.transfer_key ORDER BY t.id, unhex(d.key);
DROP TABLE deliveries;
DROP TABLE transfers;
ALTER TABLE new_transfers RENAME TO transfers;
ALTER TABLE new_deliveries RENAME TO deliveries;
CREATE UNIQUE INDEX transfers_key ON transfers (substr(tx_hash, 3, 8), key);
CREATE INDEX transfers_scope ON transfers (scope, seen_at);

-- JSON: how many equal transfers the bodies of a delivery's first minute report; null: there was one body.
ALTER TABLE deliveries ADD COLUMN minute TEXT;

-- For deleting old rows: no step may scan a whole table.
CREATE INDEX dead_letters_alert ON dead_letters (alert_id);
CREATE INDEX batches_age ON batches (frozen_at);
`;
