/** What statements of every engine ask about messages, the rows of `batches`. */

/**
 * A message `b` that alerts of its transaction may join for a while: it was sent with embeds, and no edit of it failed. In
 * SQL, because a transaction may have thousands of messages and only the latest such one is wanted.
 */
export const JOINABLE = `b.kind = 'create' AND b.state = 'sent' AND b.message_id IS NOT NULL AND NOT b.plain_text
  AND NOT EXISTS (SELECT 1 FROM batches e WHERE e.reference = b.reference AND e.kind = 'edit' AND e.state = 'dead')`;

/** A sent message `b` whose alerts may make a burst: it shows single ones, or is a burst's digest. In SQL, which counts them. */
export const MAKES_BURST = "b.state = 'sent' AND (b.kind = 'create' OR b.digest_reason = 'burst')";

/** What each dead letter keeps of its message `b`. A digest of thousands of alerts would store as many copies of its payload. */
export const KEPT_PAYLOAD = "CASE WHEN b.kind <> 'digest' THEN b.payload END";
