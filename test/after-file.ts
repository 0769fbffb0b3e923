const ends: (() => Promise<void>)[] = [];

/** Calls this once the tests of the present file are over. */
export const afterFile = (end: () => Promise<void>): void => void ends.push(end);

/** Ends what the tests of a file share. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
