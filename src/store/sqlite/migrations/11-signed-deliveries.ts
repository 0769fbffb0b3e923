export const SIGNED_DELIVERIES = `
-- identity: JSON of how a signed delivery's headers name it. names: JSON of the ids and places by which a delivery's
-- signed bodies were distinguished. signed: the project's deliveries must be signed; its secrets are among the sealed keys.
ALTER TABLE inbox ADD COLUMN identity TEXT;
ALTER TABLE quarantine ADD COLUMN identity TEXT;
ALTER TABLE deliveries ADD COLUMN names TEXT;
ALTER TABLE projects ADD COLUMN signed INTEGER NOT NULL DEFAULT 0;
`;
