import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The environment of a bot on these networks; what describes a single one is left out. */
export function networksEnvironment(networks: readonly object[]): Record<string, string> {
  const path = join(mkdtempSync(join(tmpdir(), 'networks-')), 'networks.json');
  writeFileSync(path, JSON.stringify(networks));
  const single = ['RECEIVER_TOKEN', 'EXPLORER_URL', 'NOTIFICATION_PROJECT_ID', 'NOTIFICATION_API_KEY'];
  const unset = [...single, 'NOTIFICATION_API_SECRET'].map((name) => [name, '']);
  return { ...Object.fromEntries(unset), NETWORKS_FILE: path };
}
