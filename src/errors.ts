/**
 * An error whose message is meant for the person who caused it: what was wrong, what a right value looks like, what
 * to do next. Everything else that is thrown is logged, and people see one fixed sentence.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
}
