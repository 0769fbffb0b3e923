import { request } from 'undici';
import { readBody } from './http.ts';

const DISCORD_FILES = ['https://cdn.discordapp.com', 'https://media.discordapp.net'];
const TIMEOUT_MS = 10_000;

/** `not-text`: neither UTF-8, UTF-16 nor what Excel saves as plain CSV; `spreadsheet`: a spreadsheet's own format. */
export type AttachmentText =
  | { status: 'read'; text: string }
  | { status: 'foreign' | 'too-large' | 'not-text' | 'spreadsheet' | 'json' | 'unreachable' };

export type ReadAttachment = (url: string, max: number) => Promise<AttachmentText>;

/** Reads from Discord's file servers and, for stand-ins, from the host of the REST root. Follows no redirect. */
export function createAttachmentReader(apiUrl: string): ReadAttachment {
  const origins = [...DISCORD_FILES, new URL(apiUrl).origin];
  return async (text, max) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (!url || !origins.includes(url.origin) || url.username !== '' || url.password !== '') {
      return { status: 'foreign' };
    }
    try {
      const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (statusCode !== 200) {
        await body.dump();
        return { status: 'unreachable' };
      }
      const bytes = await readBody(body, max);
      return bytes === null ? { status: 'too-large' } : decode(bytes);
    } catch {
      return { status: 'unreachable' };
    }
  };
}

/** The first bytes of a ZIP archive, which modern spreadsheets are, and of Microsoft's older files. */
const SPREADSHEETS = ['504b0304', 'd0cf11e0'];
/** How a list or an object in JSON begins; a text list may begin with a link in brackets. */
const JSON_LIKE = /^\s*(\{\s*["}]|\[\s*["{[\]])/;

function decode(bytes: Buffer): AttachmentText {
  if (SPREADSHEETS.includes(bytes.toString('hex', 0, 4))) return { status: 'spreadsheet' };
  const encodings = [encodingOf(bytes), ...(bytes.some(isControl) ? [] : ['windows-1252'])];
  for (const encoding of encodings) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      return JSON_LIKE.test(text) ? { status: 'json' } : { status: 'read', text };
    } catch {
      // Perhaps the next one fits.
    }
  }
  return { status: 'not-text' };
}

/** Text contains no such byte, except in UTF-16. */
const isControl = (byte: number): boolean => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d;

/** By the byte order mark, or by a zero beside the first letter; spreadsheets write UTF-16 as "Unicode text". */
function encodingOf([first, second]: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (second === 0 && first !== 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? 'utf-16be' : 'utf-8';
}
