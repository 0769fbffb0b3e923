export const EPOCHS = `
-- Known transfers are looked up in epochs of 2^17, so that a new one is written next to the ones before it, not anywhere
-- among 50 million. The transfers of a transaction: id >> 17 = ? AND substr(tx_hash, 3, 8) = substr(?, 3, 8)
-- AND tx_hash = ?, for each epoch. bloom: which transactions a full epoch may hold; a transfer that comes after it was
-- written makes it invalid.
DROP INDEX transfers_key;
CREATE UNIQUE INDEX transfers_key ON transfers (id >> 17, substr(tx_hash, 3, 8), key);
CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, bloom BLOB NOT NULL);
CREATE TRIGGER transfers_epoch AFTER INSERT ON transfers
  BEGIN DELETE FROM epochs WHERE epoch = new.id >> 17; END;
`;
