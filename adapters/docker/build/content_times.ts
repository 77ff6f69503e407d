import { join } from "node:path";
import { CHUNK_BYTES, type ContextEntry, contentOf } from "./context_entry.ts";

const MAX_PROJECTS = 32;
const MAX_FILES = 50_000;
const FILES_AT_ONCE = 8;
const AT_ONCE_BYTES = 1_024 * 1_024;

/** Content that was sent to the engine, the modification time it was sent with, and the file it came from. */
interface Given {
  readonly hash: bigint;
  readonly announcedNs: bigint;
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly inode: bigint;
}

/**
 * Remembers the modification time that each file of a project was last sent with. Each deployment has a folder of its
 * own, in which all files are new, but the engine considers a file unchanged if size and time are the same. So a file
 * with unchanged content is announced with its former time, and not sent again.
 */
export class ContentTimes {
  /** Least recently used first. */
  readonly #projects = new Map<string, Map<string, Given>>();

  /** Returns the times of the files under a key; evicts the least recently used keys beyond 32. */
  of(key: string): ProjectTimes {
    const given = this.#projects.get(key) ?? new Map<string, Given>();
    this.#projects.delete(key);
    this.#projects.set(key, given);
    for (const oldest of this.#projects.keys()) {
      if (this.#projects.size <= MAX_PROJECTS) break;
      this.#projects.delete(oldest);
    }
    return new ProjectTimes(given);
  }
}

/** The times of one project's files. */
export class ProjectTimes {
  readonly #given: Map<string, Given>;
  readonly #announced = new Map<ContextEntry, bigint>();

  constructor(given: Map<string, Given>) {
    this.#given = given;
  }

  /** Finds the files whose content is unchanged; unreadable ones count as changed. */
  async compare(root: string, entries: readonly ContextEntry[]): Promise<void> {
    const waiting = entries.filter(({ path, kind, size }) => kind === "file" && this.#given.get(path)?.size === size);
    const next = async () => {
      for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
        const given = this.#given.get(entry.path)!;
        const isSameFile = given.inode === entry.inode && given.modifiedNs === entry.modifiedNs;
        const isSame = isSameFile || (await hashOf(root, entry).catch(() => undefined)) === given.hash;
        if (isSame) this.#announced.set(entry, given.announcedNs);
      }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, next));
  }

  /** Returns the modification time to announce for an entry. */
  timeOf(entry: ContextEntry): bigint {
    return this.#announced.get(entry) ?? entry.modifiedNs;
  }

  /** Passes on the content of a sent file, and remembers its hash once it is complete. */
  async *sent(entry: ContextEntry, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let hash = 0n;
    for await (const bytes of content) {
      hash = Bun.hash.wyhash(bytes, hash);
      yield bytes;
    }
    if (this.#given.size >= MAX_FILES && !this.#given.has(entry.path)) return;
    const { size, modifiedNs, inode } = entry;
    this.#given.set(entry.path, { hash, announcedNs: this.timeOf(entry), size, modifiedNs, inode });
  }
}

/** Computes the same hash as `sent`. */
async function hashOf(root: string, entry: ContextEntry): Promise<bigint> {
  let hash = 0n;
  if (entry.size > AT_ONCE_BYTES) {
    for await (const bytes of contentOf(root, entry)) hash = Bun.hash.wyhash(bytes, hash);
    return hash;
  }
  const content = await Bun.file(join(root, entry.path)).bytes();
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    hash = Bun.hash.wyhash(content.subarray(at, at + CHUNK_BYTES), hash);
  }
  return hash;
}
