import type { Base } from './base.ts';
import type { Fault, FaultRule, FaultState } from './control.ts';

export interface ActiveFault {
  readonly id: string;
  readonly hits: number;
  clear(): void;
}

interface Entry {
  state: FaultState;
  seen: number;
  cancel: () => void;
}

function fits(pattern: string, path: string): boolean {
  const expression = pattern.replaceAll(/:\w+/g, '[^/]*').replace(/\/\*\*$/, '(/.*)?');
  return new RegExp(`^${expression}$`).test(path);
}

const OUTAGES: readonly Fault['kind'][] = ['away', 'gateway-down'];

export type Faults = ReturnType<typeof createFaults>;

const shardOf = (fault: Fault): number | undefined => (fault.kind === 'gateway-down' ? fault.shard : undefined);

/** `onOutage` gets the shard that goes down, or undefined for the whole gateway. */
export function createFaults({ clock, events }: Base, onOutage: (shard: number | undefined) => void) {
  let entries: Entry[] = [];
  let made = 0;

  function add(rule: FaultRule): ActiveFault {
    made++;
    const state: FaultState = { ...rule, id: String(made), hits: 0 };
    const clearThis = (): void => clear(state.id);
    const cancel = rule.forMs === undefined ? () => {} : clock.after(rule.forMs, clearThis);
    entries.push({ state, seen: 0, cancel });
    if (OUTAGES.includes(rule.fault.kind)) onOutage(shardOf(rule.fault));
    report();
    return {
      id: state.id,
      get hits() {
        return state.hits;
      },
      clear: clearThis,
    };
  }

  function clear(id?: string): void {
    for (const entry of entries) if (id === undefined || entry.state.id === id) entry.cancel();
    entries = entries.filter((entry) => id !== undefined && entry.state.id !== id);
    report();
  }

  function list(): FaultState[] {
    return entries.map(({ state }) => ({ ...state }));
  }

  /** Counts a hit. `path` is below `/api/v10`, without query. */
  function match(method: string, path: string): Fault | null {
    for (const entry of entries) {
      const { state } = entry;
      if (state.fault.kind === 'gateway-down') continue;
      if (state.method && state.method.toUpperCase() !== method) continue;
      if (state.path && !fits(state.path, path)) continue;
      if (state.channelId && !`${path}/`.startsWith(`/channels/${state.channelId}/`)) continue;
      entry.seen++;
      if (entry.seen <= (state.skip ?? 0)) continue;
      state.hits++;
      if (state.times !== undefined && state.hits >= state.times) clear(state.id);
      else report();
      return state.fault;
    }
    return null;
  }

  function report(): void {
    events.emit({ type: 'faults', faults: list() });
  }

  return {
    add,
    clear,
    list,
    /** Without a shard: whether all connections are refused. */
    isGatewayDown: (shard?: number): boolean =>
      entries.some(({ state: { fault } }) => OUTAGES.includes(fault.kind) && (shardOf(fault) ?? shard) === shard),
    match,
  };
}
