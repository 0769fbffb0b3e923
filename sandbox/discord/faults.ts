/** Decides which fault affects which request. The REST server applies it. */
import type { Clock } from '../../src/domain/clock.ts';
import type { Fault, FaultRule, FaultState } from './control.ts';
import type { Events } from './events.ts';

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

function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  for (const [index, part] of wanted.entries()) {
    if (part === '**') return true;
    if (given[index] === undefined || (!part.startsWith(':') && part !== given[index])) return false;
  }
  return wanted.length === given.length;
}

const SERVICE: readonly Fault['kind'][] = ['away', 'gateway-down'];

export class Faults {
  private readonly clock: Clock;
  private readonly events: Events;
  private readonly onService: () => void;
  private entries: Entry[] = [];
  private made = 0;

  /** @param onService called when the gateway or all of Discord goes down. */
  constructor(clock: Clock, events: Events, onService: () => void) {
    this.clock = clock;
    this.events = events;
    this.onService = onService;
  }

  add(rule: FaultRule): ActiveFault {
    this.made += 1;
    const state: FaultState = { ...rule, id: String(this.made), hits: 0 };
    const clear = (): void => this.clear(state.id);
    const cancel = rule.forMs === undefined ? () => {} : this.clock.after(rule.forMs, clear);
    this.entries.push({ state, seen: 0, cancel });
    if (SERVICE.includes(rule.fault.kind)) this.onService();
    this.report();
    return {
      id: state.id,
      get hits() {
        return state.hits;
      },
      clear,
    };
  }

  /** Removes one fault, or all. */
  clear(id?: string): void {
    for (const entry of this.entries) if (id === undefined || entry.state.id === id) entry.cancel();
    this.entries = this.entries.filter((entry) => id !== undefined && entry.state.id !== id);
    this.report();
  }

  list(): FaultState[] {
    return this.entries.map(({ state }) => ({ ...state }));
  }

  /** Whether new gateway connections are refused. */
  get gatewayDown(): boolean {
    return this.entries.some(({ state }) => SERVICE.includes(state.fault.kind));
  }

  /** Returns the fault for this request and counts it. `path` is below `/api/v10`, without query. */
  meet(method: string, path: string): Fault | null {
    for (const entry of this.entries) {
      const { state } = entry;
      if (state.fault.kind === 'gateway-down') continue;
      if (state.method && state.method.toUpperCase() !== method) continue;
      if (state.path && !fits(state.path, path)) continue;
      if (
        state.channelId &&
        !path.startsWith(`/channels/${state.channelId}/`) &&
        path !== `/channels/${state.channelId}`
      )
        continue;
      entry.seen += 1;
      if (entry.seen <= (state.skip ?? 0)) continue;
      state.hits += 1;
      if (state.times !== undefined && state.hits >= state.times) this.clear(state.id);
      else this.report();
      return state.fault;
    }
    return null;
  }

  private report(): void {
    this.events.emit({ type: 'faults', faults: this.list() });
  }
}
