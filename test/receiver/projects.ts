import { createSeal } from '../../src/secrets.ts';
import type { Store } from '../../src/store/store.ts';

const KEY = Buffer.alloc(32, 7);
const LOST_KEY = Buffer.alloc(32, 8);

export const SECRETS_KEY = KEY.toString('base64');

export interface OwnProject {
  /** The path token of its receiver URL. */
  token: string;
  /** What signs its deliveries; by default they need no signature. */
  signingSecrets?: string[];
  /** The key that sealed it is lost. */
  isLost?: boolean;
}

/** Stores projects, each of another server, as an earlier process of the bot would have. */
export async function addProjects(store: Store, projects: readonly OwnProject[]): Promise<void> {
  for (const [index, { token, signingSecrets = [], isLost }] of projects.entries()) {
    const guildId = String(1_000 + index);
    const keys = { apiKey: 'public-key', apiSecret: 'very-secret', signingSecrets };
    const sealed = createSeal([isLost ? LOST_KEY : KEY]).seal(JSON.stringify(keys), guildId);
    const project = { guildId, projectId: `p${index}`, sealed, signed: signingSecrets.length > 0 };
    const scope = await store.projects.save(project, token);
    if (scope !== index + 1) throw new Error(`The project got the scope ${scope}.`);
  }
}
