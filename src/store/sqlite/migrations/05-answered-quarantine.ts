export const ANSWERED_QUARANTINE = `
-- When a quarantined delivery was answered. It keeps this in the inbox, where it distinguishes equal transfers.
ALTER TABLE quarantine ADD COLUMN answered_at INTEGER;
ALTER TABLE inbox ADD COLUMN answered_at INTEGER;
CREATE INDEX channels_guild ON channels (guild_id);
`;
