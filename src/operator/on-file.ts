/**
 * Runs an action on the database's file. Errors of the system and of SQLite do not name a fix: one of them becomes an
 * Error with a message for the operator.
 */
export async function onFile<Result>(file: string, act: (file: string) => Promise<Result>): Promise<Result> {
  try {
    return await act(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(
      `${file} cannot be used: ${message}. Run this as the user that runs the bot, with its DATABASE_URL.`,
      { cause: error },
    );
  }
}
