export const EVENT_ROWS = `
-- What changes with every event has small rows of its own: hundreds of subscriptions share a page of them.
CREATE TABLE rhythms (
  subscription_id INTEGER PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE, events INTEGER NOT NULL DEFAULT 0,
  last_event_at INTEGER, gap_ms INTEGER, silence_told_at INTEGER
);
INSERT INTO rhythms SELECT id, events, last_event_at, gap_ms, silence_told_at FROM subscriptions;
ALTER TABLE subscriptions DROP COLUMN events;
ALTER TABLE subscriptions DROP COLUMN last_event_at;
ALTER TABLE subscriptions DROP COLUMN gap_ms;
ALTER TABLE subscriptions DROP COLUMN silence_told_at;
CREATE TRIGGER subscriptions_rhythm AFTER INSERT ON subscriptions
  BEGIN INSERT INTO rhythms (subscription_id) VALUES (new.id); END;
-- Decisions are counted some thousand at a time.
INSERT INTO meta SELECT 'counted-decisions', coalesce(max(id), 0) FROM decisions;
`;
