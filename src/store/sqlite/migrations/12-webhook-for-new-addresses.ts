export const WEBHOOK_FOR_NEW_ADDRESSES = `
-- webhook_id: the webhook that gets new addresses, once somebody chose it.
ALTER TABLE guilds ADD COLUMN webhook_id TEXT;
`;
