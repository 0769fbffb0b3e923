import type { RoutingResult } from '../../domain/routing.ts';

/** What remains to be stored of a routing result when some of its subscriptions were removed after the router read them. */
export function withoutRemoved(routed: RoutingResult, removed: ReadonlySet<number>): RoutingResult {
  if (removed.size === 0) return routed;
  const remains = ({ subscription }: { subscription: number }) => !removed.has(subscription);
  const decisions = routed.decisions.filter(remains);
  const watched = new Set(decisions.map(({ guildId, address }) => `${guildId} ${address}`));
  const counterparties = routed.learned.counterparties.filter(({ guildId, address }) =>
    watched.has(`${guildId} ${address}`),
  );
  return {
    ...routed,
    alerts: routed.alerts.filter(({ matches }) => matches.some(remains)),
    decisions,
    learned: { ...routed.learned, counterparties },
  };
}
