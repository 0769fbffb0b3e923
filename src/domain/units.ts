/** Milliseconds, as all times are here. Without Node: the sandbox’s page uses them, too. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const KIB = 1024;
export const MIB = 1024 * KIB;
