import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { afterFile } from './for-file.ts';

export function temporaryFolder(): string {
  const folder = make();
  onTestFinished(() => remove(folder));
  return folder;
}

export function folderOfFile(): string {
  const folder = make();
  afterFile(async () => remove(folder));
  return folder;
}

const make = () => mkdtempSync(join(tmpdir(), 'ledgerbell-test-'));
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });
