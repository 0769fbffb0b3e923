/** Whose events reach the guilds that have no project of their own; any other scope is the number of a guild's project. */
export const OPERATOR_SCOPE = 0;
