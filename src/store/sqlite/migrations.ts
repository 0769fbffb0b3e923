import { firstSchema } from './migrations/01-first-schema.ts';
import { projectsAndLabels } from './migrations/02-projects-and-labels.ts';
import { transfersByHash } from './migrations/03-transfers-by-hash.ts';
import { eventRows } from './migrations/04-event-rows.ts';
import { answeredQuarantine } from './migrations/05-answered-quarantine.ts';
import { epochs } from './migrations/06-epochs.ts';
import { confirmations } from './migrations/07-confirmations.ts';
import { postedOnce } from './migrations/08-posted-once.ts';
import { oneMeaningPerColumn } from './migrations/09-one-meaning-per-column.ts';
import { styles } from './migrations/10-styles.ts';
import { signedDeliveries } from './migrations/11-signed-deliveries.ts';
import { webhookForNewAddresses } from './migrations/12-webhook-for-new-addresses.ts';
import { scopesInTurn } from './migrations/13-scopes-in-turn.ts';
import { inboxIds } from './migrations/14-inbox-ids.ts';
import { nameBook } from './migrations/15-name-book.ts';
import { plainNames } from './migrations/16-plain-names.ts';
import { nothingInferred } from './migrations/17-nothing-inferred.ts';

/**
 * The schema, one migration a version; each runs in a transaction of its own. Times are milliseconds since 1970,
 * Discord ids are text, addresses are lower-case text.
 */
export const MIGRATIONS: string[] = [
  firstSchema,
  projectsAndLabels,
  transfersByHash,
  eventRows,
  answeredQuarantine,
  epochs,
  confirmations,
  postedOnce,
  oneMeaningPerColumn,
  styles,
  signedDeliveries,
  webhookForNewAddresses,
  scopesInTurn,
  inboxIds,
  nameBook,
  plainNames,
  nothingInferred,
];
