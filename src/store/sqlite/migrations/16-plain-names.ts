export const PLAIN_NAMES = `
-- alert_count: how many alerts a digest counts; NULL for other messages.
ALTER TABLE batches RENAME COLUMN lines TO alert_count;
ALTER TABLE transfers RENAME COLUMN reorganised TO reorganized;
`;
