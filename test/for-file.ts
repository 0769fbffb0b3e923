const ends: (() => Promise<void>)[] = [];

/** Calls this once the tests of the present file are over. */
export const afterFile = (end: () => Promise<void>): void => void ends.push(end);

/** Something that all tests of a file use. It is closed after the last one, before what was started earlier. */
export async function forFile<Started extends { close(): unknown }>(starting: Promise<Started>): Promise<Started> {
  const started = await starting;
  afterFile(async () => void (await started.close()));
  return started;
}

export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
