import { checkObjectKey, compareKeys } from "../../domain/backups/object_key.ts";
import type { ObjectPage, StoredObject } from "../../domain/backups/stored_object.ts";
import type {
  ObjectListOptions,
  ObjectStorage,
  StorageOptions,
  SweepOptions,
} from "../../ports/backups/object_storage.ts";

const PAGE = 1_000;

/** Keeps objects in memory. */
export class MemoryObjectStorage implements ObjectStorage {
  /** Stored objects, by key. */
  readonly objects = new Map<string, { readonly content: Uint8Array<ArrayBuffer>; readonly at: Date }>();
  /** Keys with an unfinished write, and the time of its last part. */
  readonly left = new Map<string, Date>();

  async put(key: string, content: ReadableStream<Uint8Array>, { signal }: StorageOptions = {}): Promise<number> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    const reader = content.getReader();
    const abort = () => void reader.cancel(signal?.reason).catch(() => {});
    signal?.addEventListener("abort", abort, { once: true });
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value.slice());
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    const whole = new Uint8Array(await new Blob(chunks).arrayBuffer());
    this.objects.set(key, { content: whole, at: new Date() });
    return whole.length;
  }

  async get(key: string, { signal }: StorageOptions = {}): Promise<ReadableStream<Uint8Array> | undefined> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const found = this.objects.get(key);
    if (!found) return undefined;
    let at = 0;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (signal?.aborted) return controller.error(signal.reason);
        if (at >= found.content.length) return controller.close();
        controller.enqueue(found.content.slice(at, (at += 65_536)));
      },
    });
  }

  async stat(key: string, { signal }: StorageOptions = {}): Promise<StoredObject | undefined> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const found = this.objects.get(key);
    return found && { key, bytes: found.content.length, modifiedAt: found.at };
  }

  async list(prefix: string, { after, limit = PAGE, signal }: ObjectListOptions = {}): Promise<ObjectPage> {
    signal?.throwIfAborted();
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0))
      .sort(compareKeys);
    const objects = keys.slice(0, limit).map((key) => {
      const { content, at } = this.objects.get(key)!;
      return { key, bytes: content.length, modifiedAt: at };
    });
    return { objects, next: keys.length > limit ? (objects.at(-1)?.key ?? null) : null };
  }

  async remove(key: string, { signal }: StorageOptions = {}): Promise<void> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    this.objects.delete(key);
  }

  async unfinished(prefix: string, { signal }: StorageOptions = {}): Promise<readonly string[]> {
    signal?.throwIfAborted();
    return [...this.left.keys()].filter((key) => key.startsWith(prefix));
  }

  async discard(key: string, { signal }: StorageOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.left.delete(key);
  }

  async sweep(prefix: string, { before, signal }: SweepOptions): Promise<number> {
    signal?.throwIfAborted();
    const old = [...this.left].filter(([key, at]) => key.startsWith(prefix) && at < before);
    for (const [key] of old) this.left.delete(key);
    return old.length;
  }
}
