import { FIRST_SCHEMA } from './migrations/01-first-schema.ts';
import { PROJECTS_AND_LABELS } from './migrations/02-projects-and-labels.ts';
import { TRANSFERS_BY_HASH } from './migrations/03-transfers-by-hash.ts';
import { EVENT_ROWS } from './migrations/04-event-rows.ts';
import { ANSWERED_QUARANTINE } from './migrations/05-answered-quarantine.ts';
import { EPOCHS } from './migrations/06-epochs.ts';
import { CONFIRMATIONS } from './migrations/07-confirmations.ts';
import { POSTED_ONCE } from './migrations/08-posted-once.ts';
import { ONE_MEANING_PER_COLUMN } from './migrations/09-one-meaning-per-column.ts';
import { STYLES } from './migrations/10-styles.ts';
import { SIGNED_DELIVERIES } from './migrations/11-signed-deliveries.ts';
import { WEBHOOK_FOR_NEW_ADDRESSES } from './migrations/12-webhook-for-new-addresses.ts';
import { SCOPES_IN_TURN } from './migrations/13-scopes-in-turn.ts';
import { INBOX_IDS } from './migrations/14-inbox-ids.ts';
import { ADDRESS_BOOK } from './migrations/15-address-book.ts';
import { PLAIN_NAMES } from './migrations/16-plain-names.ts';
import { NOTHING_INFERRED } from './migrations/17-nothing-inferred.ts';
import { IDS_AND_NAMES } from './migrations/18-ids-and-names.ts';

/**
 * The schema, one migration per version; each runs in a transaction of its own. Times are milliseconds since 1970,
 * Discord ids are text, addresses are lower-case text.
 */
export const MIGRATIONS: string[] = [
  FIRST_SCHEMA,
  PROJECTS_AND_LABELS,
  TRANSFERS_BY_HASH,
  EVENT_ROWS,
  ANSWERED_QUARANTINE,
  EPOCHS,
  CONFIRMATIONS,
  POSTED_ONCE,
  ONE_MEANING_PER_COLUMN,
  STYLES,
  SIGNED_DELIVERIES,
  WEBHOOK_FOR_NEW_ADDRESSES,
  SCOPES_IN_TURN,
  INBOX_IDS,
  ADDRESS_BOOK,
  PLAIN_NAMES,
  NOTHING_INFERRED,
  IDS_AND_NAMES,
];
