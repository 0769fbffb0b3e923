import type { APIMessage } from 'discord.js';
import type { Base } from './base.ts';
import type { Upload } from './message-rules.ts';
import type { Json } from './validate.ts';

export interface StoredFile {
  filename: string;
  contentType: string;
  bytes: Buffer;
}

export type Files = ReturnType<typeof createFiles>;

export function createFiles(base: Base) {
  const files = new Map<string, StoredFile>();
  /** By message: the attachments that its embeds or components show. */
  const pictures = new Map<string, Json[]>();

  function forget(): void {
    files.clear();
    pictures.clear();
  }

  function drop(message: APIMessage): void {
    for (const { id } of [...message.attachments, ...(pictures.get(message.id) ?? [])]) files.delete(id);
    pictures.delete(message.id);
  }

  function store(folder: string, upload: Omit<Upload, 'id'>, description?: string): Json {
    const id = base.nextId();
    files.set(id, upload);
    const url = `${base.url}/${folder}/${id}/${encodeURIComponent(upload.filename)}`;
    return {
      id,
      filename: upload.filename,
      size: upload.bytes.length,
      url,
      proxy_url: url,
      content_type: upload.contentType,
      ...(description && { description }),
    };
  }

  /** `existing` are the message's files before the body, or null for a new message. */
  function attach(message: Json, body: Json, uploads: readonly Upload[], existing: Json[] | null): void {
    const named = new Map<string, Json>((body.attachments ?? []).map((item: Json) => [String(item.id), item]));
    const before = existing ? [...existing, ...(pictures.get(message.id) ?? [])] : [];
    const kept = body.attachments ? before.filter(({ id }) => named.has(id)) : before;
    // After an edit, a message has the old and new files that `attachments` lists, if it is present.
    const taken = existing && body.attachments ? uploads.filter(({ id }) => named.has(id)) : uploads;
    const added = taken.map((upload) => {
      const filename = named.get(upload.id)?.filename ?? upload.filename;
      return store(`attachments/${message.channel_id}`, { ...upload, filename }, named.get(upload.id)?.description);
    });
    const all = [...kept, ...added];
    const used = new Set<string>();

    function resolve(value: Json): Json {
      if (Array.isArray(value)) return value.map(resolve);
      if (typeof value !== 'object' || value === null) return value;
      const out = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
      for (const key of ['url', 'icon_url']) {
        if (typeof out[key] !== 'string') continue;
        const file = all.find(({ filename, url }) => [`attachment://${filename}`, url].includes(out[key]));
        if (!file) continue;
        out[key] = file.url;
        used.add(file.id);
      }
      return out;
    }

    if (all.length > 0) {
      message.embeds = resolve(message.embeds);
      message.components = resolve(message.components);
    }
    // A file that an embed or component shows is not listed as an attachment.
    message.attachments = all.filter(({ id }) => !used.has(id));
    const shown = all.filter(({ id }) => used.has(id));
    if (shown.length > 0) pictures.set(message.id, shown);
    else pictures.delete(message.id);
  }

  return { get: (id: string): StoredFile | undefined => files.get(id), forget, drop, store, attach };
}
