import { type Interface, ROOTS, type UpstreamFailure } from '../../src/domain/upstream.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { listInCode } from './reply.ts';

/** Failures that a wrong root may cause: a redirect, "not found", a page, or no response. */
const PERHAPS_ROOT: readonly UpstreamFailure['status'][] = ['rejected', 'unreachable', 'broken', 'unreadable'];

export function explain(t: Translate, failure: UpstreamFailure, service: Interface): string {
  const { status } = failure;
  if (status === 'forbidden') return t(`failure.${service}.forbidden`);
  if (status === 'rejected') return t(`failure.${service}.rejected`) + rootHint(t, failure, service);
  const text = t(`failure.${status}`, { service: t(`failure.${service}.name`), code: codeOf(failure) });
  return text + rootHint(t, failure, service);
}

export function rootHint(t: Translate, { status }: UpstreamFailure, service: Interface): string {
  return PERHAPS_ROOT.includes(status) ? `\n-# ${t('failure.lasting', { variable: ROOTS[service] })}` : '';
}

export const codeOf = (failure: UpstreamFailure): number | '' => (failure.status === 'broken' ? failure.code : '');

export function notConfigured(t: Translate, service: Exclude<Interface, 'prices'>, ...variables: string[]): UserError {
  return new UserError(t(`failure.${service}.off`, { variables: listInCode(variables, t) }));
}
