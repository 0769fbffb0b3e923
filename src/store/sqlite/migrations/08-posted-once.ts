export const POSTED_ONCE = `
-- A transfer is stored once, and has one alert in a channel: the engine refuses a second one. Whatever is there twice
-- keeps its oldest row.
DROP TRIGGER transfers_epoch;
DROP TABLE epochs;
CREATE TABLE twins AS
  WITH twice AS MATERIALIZED (
    SELECT key, min(id) AS kept FROM transfers GROUP BY substr(tx_hash, 3, 8), key HAVING count(*) > 1)
  SELECT t.id, kept FROM twice CROSS JOIN transfers t ON t.key = twice.key WHERE t.id <> kept;
UPDATE OR IGNORE deliveries SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
  WHERE transfer_id IN (SELECT id FROM twins);
DELETE FROM deliveries WHERE transfer_id IN (SELECT id FROM twins);
UPDATE decisions SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
  WHERE transfer_id IN (SELECT id FROM twins);
UPDATE alerts SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
  WHERE transfer_id IN (SELECT id FROM twins);
DELETE FROM transfers WHERE id IN (SELECT id FROM twins);
DROP TABLE twins;
CREATE TABLE twins AS
  WITH twice AS MATERIALIZED (
    SELECT transfer_id, channel_id, min(id) AS kept FROM alerts GROUP BY transfer_id, channel_id HAVING count(*) > 1)
  SELECT a.id FROM twice CROSS JOIN alerts a USING (transfer_id, channel_id) WHERE a.id <> kept;
DELETE FROM dead_letters WHERE alert_id IN (SELECT id FROM twins);
DELETE FROM alerts WHERE id IN (SELECT id FROM twins);
DROP TABLE twins;
-- A key is a hash that covers the whole transaction hash, so this is unique over the key, and the transfers of a
-- transaction lie side by side: WHERE substr(tx_hash, 3, 8) = substr(?, 3, 8) AND tx_hash = ?.
DROP INDEX transfers_key;
CREATE UNIQUE INDEX transfers_key ON transfers (substr(tx_hash, 3, 8), key);
DROP INDEX alerts_transfer;
CREATE UNIQUE INDEX alerts_transfer ON alerts (transfer_id, channel_id);

-- How often each subscription's address moves; subscriptions without an event have no row. Decisions that the earlier
-- count had not reached are added.
CREATE TABLE activity_stats (
  subscription_id INTEGER PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE, events INTEGER NOT NULL,
  last_event_at INTEGER NOT NULL, gap_ms INTEGER, silence_reported_at INTEGER
);
INSERT INTO activity_stats SELECT subscription_id, events, last_event_at, gap_ms, silence_told_at FROM rhythms
  WHERE last_event_at IS NOT NULL;
WITH progress AS (
    SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'counted-decisions'), 0) AS counted,
      (SELECT value FROM meta WHERE key = 'counting-decisions') AS pass),
  uncounted AS (
    SELECT d.subscription_id, count(*) AS events, max(d.at) AS last_event_at
    FROM progress CROSS JOIN decisions d ON d.id > counted
    WHERE NOT (pass IS NOT NULL AND d.id <= pass ->> 'to'
      AND (d.subscription_id, d.id) <= (pass ->> 'subscription', pass ->> 'id'))
    GROUP BY d.subscription_id)
INSERT INTO activity_stats (subscription_id, events, last_event_at)
  SELECT subscription_id, u.events, u.last_event_at FROM uncounted u JOIN subscriptions s ON s.id = subscription_id
  WHERE true
  ON CONFLICT DO UPDATE SET events = events + excluded.events, silence_reported_at = NULL,
    last_event_at = max(last_event_at, excluded.last_event_at);
DROP TRIGGER subscriptions_rhythm;
DROP TABLE rhythms;
DELETE FROM meta WHERE key IN ('counted-decisions', 'counting-decisions');
`;
