interface Terminal {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

const WIDTH = 24;

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
    end(): void {
      if (terminal.isTTY && drawn !== '') terminal.write('\r\x1b[K');
    },
  };
}

/** Explains the errors of the system and of SQLite about the database's file, which do not name a fix. */
export async function onFile<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(
      `${file} cannot be used: ${message}. Run this as the user that runs the bot, with its DATABASE_URL.`,
      { cause: error },
    );
  }
}
