import { readdirSync, statSync, utimesSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { holdFile } from "../shared/file_lock.ts";

const KEY = /^[A-Za-z0-9_-]{1,100}$/;

/** A home directory that builds with the same cache key share, one at a time. */
export interface HeldCache extends Disposable {
  readonly home: string;
}

/** The home directories of builds, where package managers cache downloads. */
export class BuildCaches {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Locks the cache of a key for one build. Returns `undefined` while another build holds it, or for an invalid key.
   */
  async hold(key: string): Promise<HeldCache | undefined> {
    if (!KEY.test(key)) return undefined;
    const home = join(this.#folder, key);
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    const lock = holdFile(`${home}.lock`);
    if (!lock) return undefined;
    await mkdir(home, { recursive: true, mode: 0o700 });
    utimesSync(home, new Date(), new Date());
    return { home, [Symbol.dispose]: () => lock[Symbol.dispose]() };
  }

  /** Evicts least recently used caches until the rest takes at most `maxBytes`. Keeps caches in use. */
  async trim(maxBytes: number): Promise<void> {
    const keys = namesIn(this.#folder).filter((name) => KEY.test(name));
    const caches = await Promise.all(keys.map(async (key) => ({ key, ...(await this.#measured(key)) })));
    let total = caches.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { key, bytes } of caches.sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= maxBytes) return;
      using lock = holdFile(join(this.#folder, `${key}.lock`));
      if (!lock) continue;
      await rm(join(this.#folder, key), { recursive: true, force: true });
      await rm(join(this.#folder, `${key}.lock`), { force: true });
      total -= bytes;
    }
  }

  async #measured(key: string): Promise<{ bytes: number; usedAt: number }> {
    const path = join(this.#folder, key);
    const measuring = Bun.spawn(["du", "-sk", path], { stdio: ["ignore", "pipe", "ignore"] });
    const kilobytes = Number.parseInt(await measuring.stdout.text(), 10) || 0;
    return { bytes: kilobytes * 1024, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
