import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import { type Swept, temporaryFolder } from "../../programs/swept.ts";

export const blobSchema = z.object({ id: z.string(), size: z.int() });

/** A piece of content on disk. It is never changed: new content is a new blob. */
export type BlobRef = Readonly<z.infer<typeof blobSchema>>;

/**
 * Content in files of one folder, named by random ids. A blob is in use when a row has its id, so a crash in between
 * leaves at most an unused file.
 */
export interface Blobs {
  write(content: AsyncIterable<Buffer>): Promise<BlobRef & { md5: string }>;
  /** The bytes from `first` to `last` of blobs in a row. They stay readable until the end, even when removed. */
  read(blobs: readonly BlobRef[], first: number, last: number): Readable;
  remove(blobs: readonly BlobRef[]): Promise<void>;
  /** Removes all blobs but `known`. */
  sweep(known: Iterable<BlobRef>): Promise<void>;
  close(): Promise<void>;
}

/** `folder` keeps the blobs; without it they are in a temporary folder that is removed at the end. */
export function createBlobs(folder: string | undefined): Blobs {
  let temporary: Swept | undefined;
  let made: Promise<string> | undefined;
  const place = () => {
    if (folder === undefined) {
      temporary ??= temporaryFolder("objects");
      return Promise.resolve(temporary.path);
    }
    made ??= madeFolder(folder);
    return made;
  };
  const readers = new Map<string, number>();
  const doomed = new Set<string>();
  const unlink = async (id: string) => rm(join(await place(), id), { force: true });

  function release({ id }: BlobRef): void {
    const left = (readers.get(id) ?? 1) - 1;
    if (left > 0) return void readers.set(id, left);
    readers.delete(id);
    // A file that could not be removed is swept at the next start.
    if (doomed.delete(id)) unlink(id).catch(() => {});
  }

  async function* pieces(blobs: readonly BlobRef[], first: number, last: number): AsyncGenerator<Buffer> {
    const path = await place();
    let begin = 0;
    for (const { id, size } of blobs) {
      const [start, end] = [Math.max(first - begin, 0), Math.min(last - begin, size - 1)];
      begin += size;
      if (start <= end) yield* createReadStream(join(path, id), { start, end });
    }
  }

  return {
    async write(content) {
      const id = randomUUID();
      const path = join(await place(), id);
      const handle = await open(path, "wx", 0o600);
      const hash = createHash("md5");
      let size = 0;
      try {
        for await (const part of content) {
          hash.update(part);
          size += part.length;
          await handle.appendFile(part);
        }
        if (folder !== undefined) await handle.datasync();
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      } finally {
        await handle.close();
      }
      return { id, size, md5: hash.digest("hex") };
    },
    read(blobs, first, last) {
      // Held from this moment, not from the first byte: a writer may remove them in between.
      for (const { id } of blobs) readers.set(id, (readers.get(id) ?? 0) + 1);
      const stream = Readable.from(pieces(blobs, first, last), { objectMode: false });
      stream.once("close", () => blobs.forEach(release));
      return stream;
    },
    async remove(blobs) {
      for (const { id } of blobs) {
        if (readers.has(id)) doomed.add(id);
        else await unlink(id);
      }
    },
    async sweep(known) {
      if (folder === undefined) return;
      const ids = new Set(Array.from(known, ({ id }) => id));
      for (const name of await readdir(await place())) if (!ids.has(name)) await unlink(name);
    },
    async close() {
      await temporary?.remove();
    },
  };
}

async function madeFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
