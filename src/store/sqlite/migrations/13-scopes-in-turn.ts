export const SCOPES_IN_TURN = `
-- The router takes scopes in turn. bytes: of the deliveries that a server's own URL stored on a day (UTC, since 1970).
CREATE INDEX inbox_scope ON inbox (scope);
CREATE TABLE scope_usage (scope INTEGER PRIMARY KEY, day INTEGER NOT NULL, bytes INTEGER NOT NULL);
`;
