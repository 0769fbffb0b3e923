/** Decides which fault affects which request. The REST server applies it. */

import type { Base } from './base.ts';
import type { Fault, FaultRule, FaultState } from './control.ts';

/** An active fault in the TypeScript API. */
export interface ActiveFault {
  readonly id: string;
  /** How many requests it has affected. */
  readonly hits: number;
  clear(): void;
}

interface Entry {
  state: FaultState;
  seen: number;
  cancel: () => void;
}

/** Whether a path fits a pattern: `:name` stands for any segment, and a final `**` for any rest. */
function fits(pattern: string, path: string): boolean {
  const expression = pattern.replaceAll(/:\w+/g, '[^/]*').replace(/\/\*\*$/, '(/.*)?');
  return new RegExp(`^${expression}$`).test(path);
}

/** The faults that drop gateway connections. */
const OUTAGES: readonly Fault['kind'][] = ['away', 'gateway-down'];

/** The faults that are active. */
export type Faults = ReturnType<typeof createFaults>;

const shardOf = (fault: Fault): number | undefined => (fault.kind === 'gateway-down' ? fault.shard : undefined);

/** Creates an empty list of active faults. `onOutage` is called when a shard, or without one the whole gateway, goes down. */
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

  /** Removes one fault, or all. */
  function clear(id?: string): void {
    for (const entry of entries) if (id === undefined || entry.state.id === id) entry.cancel();
    entries = entries.filter((entry) => id !== undefined && entry.state.id !== id);
    report();
  }

  function list(): FaultState[] {
    return entries.map(({ state }) => ({ ...state }));
  }

  /** Returns the fault that affects this request, and counts it. `path` is below `/api/v10`, without query. */
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
    /** Whether gateway connections are refused: all of them, or those of this shard. */
    isGatewayDown: (shard?: number): boolean =>
      entries.some(({ state: { fault } }) => OUTAGES.includes(fault.kind) && (shardOf(fault) ?? shard) === shard),
    match,
  };
}
