/** The operator's project, for every guild without one of its own; any other scope is the ID of a guild's project. */
export const OPERATOR_SCOPE = 0;
