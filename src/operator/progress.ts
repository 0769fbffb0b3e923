/** Where a bar is drawn: a person's terminal. */
export interface Terminal {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

const WIDTH = 24;

/** Draws how far long work has come, on one line; nothing where nobody watches. */
export function progressBar(terminal: Terminal) {
  let drawn = '';
  return {
    draw(done: number, total: number, what: string): void {
      const percent = total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total));
      if (!terminal.isTTY || drawn === `${percent} ${what}`) return;
      drawn = `${percent} ${what}`;
      const full = Math.round((WIDTH * percent) / 100);
      const line = `[${'█'.repeat(full)}${' '.repeat(WIDTH - full)}] ${String(percent).padStart(3)} %  ${what}`;
      terminal.write(`\r\x1b[K${line.slice(0, (terminal.columns || 80) - 1)}`);
    },
    /** Removes the bar. */
    end(): void {
      if (terminal.isTTY && drawn !== '') terminal.write('\r\x1b[K');
    },
  };
}
