import { readBody } from './http.ts';

/** Where Discord keeps the files that people attach. */
const DISCORD_FILES = ['https://cdn.discordapp.com', 'https://media.discordapp.net'];
const TIMEOUT_MS = 10_000;

/** The result of reading a file. `not-text`: it is not UTF-8, such as a spreadsheet's own format. */
export type AttachmentText =
  | { status: 'read'; text: string }
  | { status: 'foreign' | 'too-large' | 'not-text' | 'unreachable' };

/** Reads a text file of at most `max` bytes that somebody attached to a command. */
export type ReadAttachment = (url: string, max: number) => Promise<AttachmentText>;

/**
 * Reads from Discord's file servers and from the host of the REST root (a stand-in keeps its files there), and from
 * nowhere else: no redirect is followed. Never throws.
 */
export function createAttachmentReader(apiUrl: string): ReadAttachment {
  const origins = [...DISCORD_FILES, new URL(apiUrl).origin];
  return async (text, max) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (!url || !origins.includes(url.origin) || url.username !== '' || url.password !== '') {
      return { status: 'foreign' };
    }
    try {
      const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status !== 200) {
        await response.body?.cancel();
        return { status: 'unreachable' };
      }
      const bytes = await readBody(response, max);
      return bytes === null ? { status: 'too-large' } : decode(bytes);
    } catch {
      return { status: 'unreachable' };
    }
  };
}

function decode(bytes: Buffer): AttachmentText {
  try {
    return { status: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { status: 'not-text' };
  }
}
