export const answeredQuarantine = `
-- When what was set aside had been answered; it goes back to the inbox with it, and is told from its equals by it.
ALTER TABLE quarantine ADD COLUMN answered_at INTEGER;
ALTER TABLE inbox ADD COLUMN answered_at INTEGER;
CREATE INDEX channels_guild ON channels (guild_id);
`;
