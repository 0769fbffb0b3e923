export const INBOX_IDS = `
-- inbox_id: the number that the delivery had in the inbox, by which the log names it.
ALTER TABLE alerts ADD COLUMN inbox_id INTEGER;
`;
