import type { UpstreamFailure } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';

/** An upstream interface, as the texts name it. */
type Service = 'explorer' | 'directory' | 'notification';

/** The roots of the services. */
const VARIABLES = { explorer: 'EXPLORER_API_URL', directory: 'DISCOVERY_URL', notification: 'NOTIFICATION_URL' };
/** How a wrong root is answered as well: by a redirect, "not found", a page, or nobody. */
const PERHAPS_ROOT: readonly UpstreamFailure['status'][] = ['rejected', 'unreachable', 'broken', 'unreadable'];

/** What went wrong with a service and what to do, in a few sentences. */
export function explain(t: Translate, failure: UpstreamFailure, service: Service): string {
  const { status } = failure;
  if (status === 'forbidden') return t(`failure.${service}.forbidden`);
  if (status === 'rejected') return t(`failure.${service}.rejected`) + lasting(t, failure, service);
  const text = t(`failure.${status}`, { service: t(`failure.${service}.name`), code: codeOf(failure) });
  return text + lasting(t, failure, service);
}

/** A line for a failure that may be due to a wrong root, where trying again helps nobody; empty for others. */
export function lasting(t: Translate, { status }: UpstreamFailure, service: Service): string {
  return PERHAPS_ROOT.includes(status) ? `\n-# ${t('failure.lasting', { variable: VARIABLES[service] })}` : '';
}

/** The status code that a text names. */
export const codeOf = (failure: UpstreamFailure): number | '' => (failure.status === 'broken' ? failure.code : '');

/** Says that an interface is off, and with which environment variables its operator can change it. */
export function off(t: Translate, service: Service, ...variables: string[]): UserError {
  return new UserError(
    t(`failure.${service}.off`, { variables: variables.map((name) => `\`${name}\``).join(t('reply.comma')) }),
  );
}
