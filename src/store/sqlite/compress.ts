import { createHash } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream, openSync, readSync, statSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** What every file of Zstandard begins with. */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Whether a file is compressed with Zstandard, whatever its name. */
export function isCompressed(file: string): boolean {
  const bytes = Buffer.alloc(MAGIC.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, bytes);
  } finally {
    closeSync(descriptor);
  }
  return bytes.equals(MAGIC);
}

/** Reads a file, and reports how many bytes of it were read. */
async function* read(file: string, report: (done: number, total: number) => void): AsyncGenerator<Buffer> {
  const { size } = statSync(file);
  let done = 0;
  for await (const chunk of createReadStream(file)) {
    done += chunk.length;
    report(done, size);
    yield chunk;
  }
}

/** Compresses a file with Zstandard, then reads the result back; throws an Error if it does not contain the same bytes. */
export async function compress(from: string, to: string, report: (done: number, total: number) => void): Promise<void> {
  const given = createHash('sha256');
  const count = new PassThrough({
    transform(chunk: Buffer, _encoding, done) {
      given.update(chunk);
      done(null, chunk);
    },
  });
  const compressing = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  await pipeline(read(from, report), count, compressing, createWriteStream(to, { mode: 0o600 }));
  const found = createHash('sha256');
  const readBack = new Writable({
    write(chunk: Buffer, _encoding, done) {
      found.update(chunk);
      done();
    },
  });
  await pipeline(createReadStream(to), createZstdDecompress(), readBack);
  if (found.digest('hex') !== given.digest('hex')) throw new Error('the compressed copy differs from the database');
}

/** Decompresses a file; throws an Error if it is damaged. */
export const decompress = (from: string, to: string, report: (done: number, total: number) => void): Promise<void> =>
  pipeline(read(from, report), createZstdDecompress(), createWriteStream(to, { mode: 0o600 }));
