import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** What every file of Zstandard begins with. */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Whether a file is compressed with Zstandard, whatever its name. */
export async function isCompressed(file: string): Promise<boolean> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(MAGIC.length));
  return buffer.equals(MAGIC);
}

/** Reads a file, and reports how many bytes of it were read. */
async function* read(file: string, report: (done: number, total: number) => void, hash?: Hash): AsyncGenerator<Buffer> {
  const { size } = statSync(file);
  let done = 0;
  for await (const chunk of createReadStream(file)) {
    done += chunk.length;
    report(done, size);
    hash?.update(chunk);
    yield chunk;
  }
}

/** Compresses a file with Zstandard, then reads the result back; throws an Error if it does not contain the same bytes. */
export async function compress(from: string, to: string, report: (done: number, total: number) => void): Promise<void> {
  const [given, found] = [createHash('sha256'), createHash('sha256')];
  const compressing = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  await pipeline(read(from, report, given), compressing, createWriteStream(to, { mode: 0o600 }));
  await pipeline(createReadStream(to), createZstdDecompress(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) found.update(chunk);
  });
  if (found.digest('hex') !== given.digest('hex')) throw new Error('the compressed copy differs from the database');
}

/** Decompresses a file; throws an Error if it is damaged. */
export const decompress = (from: string, to: string, report: (done: number, total: number) => void): Promise<void> =>
  pipeline(read(from, report), createZstdDecompress(), createWriteStream(to, { mode: 0o600 }));
