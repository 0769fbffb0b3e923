import type { Clock } from '../../domain/clock.ts';

/** A moment by both clocks: one does not run while the machine sleeps, the other can be changed. */
interface Moment {
  wall: number;
  passed: number;
}

/** A right that ends `lastsMs` after its latest proof began; `onEnded` is called then. */
export function createLease(
  { clock, elapsed }: { clock: Clock; elapsed(): number },
  lastsMs: number,
  onEnded: () => void,
) {
  let provedAt: Moment | null = null;
  let cancel = () => {};
  const now = (): Moment => ({ wall: clock.now(), passed: elapsed() });
  const since = (then: Moment): number => {
    const { wall, passed } = now();
    return Math.max(wall - then.wall, passed - then.passed);
  };
  return {
    now,
    isProved: (): boolean => provedAt !== null && since(provedAt) < lastsMs,
    /** Records that it was proved by something that began at this moment. */
    prove(begun: Moment): void {
      cancel();
      provedAt = begun;
      cancel = clock.after(lastsMs - since(begun), onEnded);
    },
    end(): void {
      cancel();
      provedAt = null;
    },
  };
}
