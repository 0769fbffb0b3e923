export const ADDRESS_BOOK = `
-- One address book for each server: an address has one name, and a name one address. Subscriptions' labels move there.
-- Where an address had several names, it keeps the one in the book, otherwise the oldest. Where addresses had the same
-- name, the one in the book keeps it, otherwise the oldest; the others get the end of the address appended, or all of it.
CREATE TABLE book (
  guild_id TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL, created_by TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (guild_id, address), UNIQUE (guild_id, name COLLATE NOCASE)
) WITHOUT ROWID;
CREATE TABLE named AS
  SELECT guild_id, address, name, created_by, at FROM (
    SELECT guild_id, address, name, created_by, at, 0 AS place, 0 AS id FROM labels
    UNION ALL SELECT guild_id, address, label, created_by, created_at, 1, id FROM subscriptions WHERE label IS NOT NULL
  ) ORDER BY place, at, id;
DELETE FROM named WHERE rowid NOT IN (SELECT min(rowid) FROM named GROUP BY guild_id, address);
INSERT OR IGNORE INTO book SELECT * FROM named ORDER BY rowid;
INSERT OR IGNORE INTO book
  SELECT guild_id, address, substr(name, 1, 50) || ' (' || substr(address, -6) || ')', created_by, at FROM named ORDER BY rowid;
INSERT OR IGNORE INTO book
  SELECT guild_id, address, substr(name, 1, 16) || ' ' || address, created_by, at FROM named ORDER BY rowid;
DROP TABLE named;
DROP TABLE labels;
ALTER TABLE book RENAME TO labels;
ALTER TABLE subscriptions DROP COLUMN label;
`;
