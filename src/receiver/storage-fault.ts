import { MINUTE, SECOND } from '../domain/clock.ts';

/** A storage fault is forgotten after this, because the database may work again. */
const FAULT_MS = 5 * MINUTE;
/** A disk counts as slow until no delivery was refused because of it for this long. */
const SLOW_MS = 10 * SECOND;

/** Dependencies and callbacks of the memory of storage faults. */
export interface StorageFaultOptions {
  now(): number;
  /** How long the last commit took, or the current one has taken, in milliseconds. */
  syncMs?(): number;
  /** Deliveries cannot be stored, for this reason; null: they can again. Called when it changes. */
  onFault(reason: string | null): void;
}

/** Why deliveries cannot be stored. */
export type StorageFault = ReturnType<typeof createStorageFault>;

/** Remembers why deliveries cannot be stored, and reports each change. */
export function createStorageFault({ now, syncMs, onFault }: StorageFaultOptions) {
  let fault: { reason: string; isSlow: boolean; at: number } | null = null;
  return {
    /** Records that a delivery could not be stored. */
    recordFault(reason: string): void {
      const isChange = fault?.reason !== reason;
      fault = { reason, isSlow: false, at: now() };
      if (isChange) onFault(reason);
    },
    /** Records that a delivery was refused because the disk was too slow for it. */
    recordSlow(): void {
      const reason = `storing takes too long: the disk took ${Math.round(syncMs?.() ?? 0)} ms to sync`;
      const isChange = !fault?.isSlow;
      fault = { reason, isSlow: true, at: now() };
      if (isChange) onFault(reason);
    },
    /** Records that deliveries were stored. On a slow disk the next ones may still fail. */
    recordStored(): void {
      if (fault === null || (fault.isSlow && now() - fault.at < SLOW_MS)) return;
      fault = null;
      onFault(null);
    },
    /** Why the last delivery could not be stored, for some minutes at most; null when it could. */
    latest: (): string | null => (fault !== null && now() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
