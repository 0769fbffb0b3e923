import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Failure } from '../../src/upstream/http.ts';

/** An upstream interface, as the texts name it. */
type Service = 'explorer' | 'directory' | 'notification';

/** What went wrong with a service and what to do, in a sentence or two. */
export function explain(t: Translate, failure: Failure, service: Service): string {
  const { status } = failure;
  if (status === 'forbidden' || status === 'rejected') return t(`failure.${service}.${status}`);
  const name = t(`failure.${service}.name`);
  return t(`failure.${status}`, { service: name, code: status === 'broken' ? failure.code : '' });
}

/** Says that an interface is off, and with which environment variables its operator can change it. */
export function off(t: Translate, service: Service, ...variables: string[]): UserError {
  return new UserError(
    t(`failure.${service}.off`, { variables: variables.map((name) => `\`${name}\``).join(t('reply.comma')) }),
  );
}
