import { type Clock, SECOND } from '../../domain/clock.ts';
import type { ElectionLog } from './reconnecting-session.ts';

/** Pause after the work could not begin: another process gets its chance. */
const FAILED_MS = 5 * SECOND;

/** Dependencies and callbacks of the work of an elected process. */
export interface ElectedWorkOptions {
  clock: Clock;
  log: ElectionLog;
  /** The process, as the log names it. */
  holder: string;
  /** The work could not begin. */
  onFailed(): void;
}

/** Begins and ends the work of an elected process, one step after the other. */
export function createElectedWork({ clock, log, holder, onFailed }: ElectedWorkOptions) {
  /** It begins or ends. */
  let changing: Promise<void> | null = null;
  /** It could not begin a moment ago. */
  let isResting = false;

  function change(step: () => Promise<void>): void {
    const last = (changing ?? Promise.resolve())
      .then(step)
      .catch((error: unknown) => log.error({ err: error }, 'election: the work did not shut down cleanly'))
      .finally(() => {
        if (changing === last) changing = null;
      });
    changing = last;
  }

  function failed(error: unknown): void {
    log.error({ err: error, election: { holder } }, 'election: this process was elected and cannot work');
    isResting = true;
    clock.after(FAILED_MS, () => {
      isResting = false;
    });
    onFailed();
  }

  return {
    /** Whether it can begin at once. */
    isReady: (): boolean => !changing && !isResting,
    begin: (step: () => Promise<void>): void => change(() => step().catch(failed)),
    end: change,
    /** Resolves when it neither begins nor ends. */
    changed: async (): Promise<void> => void (await changing),
  };
}
