/** Discord's limits for one message; lengths in characters. */

export const MAX_CONTENT = 2_000;
export const MAX_EMBEDS = 10;
/** The fields of one embed. */
export const MAX_FIELDS = 25;
/** An embed's title. */
export const MAX_TITLE = 256;
/** An embed's description. */
export const MAX_DESCRIPTION = 4_096;
/** The text of an embed's field. */
export const MAX_FIELD = 1_024;
