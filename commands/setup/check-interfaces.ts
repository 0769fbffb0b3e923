import { INTERFACES } from '../../src/domain/upstream.ts';
import { explain } from '../shared/failure.ts';
import { absoluteTime, relativeTime } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { type Finding, fault } from './finding.ts';

/** The interfaces that are down: why, since when, and the effect on this guild. */
export function checkInterfaces({ t, interfaces }: ContextWith<'interfaces'>): Finding[] {
  const outages = interfaces.outages();
  return INTERFACES.flatMap((name) => {
    const outage = outages.get(name);
    if (!outage) return [];
    const since = t('setup.check.awaySince', { moment: absoluteTime(outage.since), ago: relativeTime(outage.since) });
    const lines = [explain(t, outage.failure, name), `-# ${since} ${t(`setup.check.away.${name}`)}`];
    return [fault(lines.join('\n'))];
  });
}
