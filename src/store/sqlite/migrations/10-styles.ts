export const STYLES = `
-- How alerts look (compact, full); null in a subscription: as its guild chose, and there: compact.
ALTER TABLE subscriptions ADD COLUMN style TEXT;
ALTER TABLE guilds ADD COLUMN style TEXT;
`;
