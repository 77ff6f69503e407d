import { Failure } from "../../domain/failure.ts";
import type { StorageOptions } from "../../ports/backups/object_storage.ts";
import type { ObjectStorages, OpenStorage, StorageTarget } from "../../ports/backups/object_storages.ts";
import { MemoryObjectStorage } from "./object_storage.ts";

/** Faults to inject: opening a storage, or one of its operations, fails or hangs. */
export type MemoryFaults = { readonly [Operation in keyof MemoryObjectStorage | "open"]?: Failure | "hangs" };

/** Simulated storages, one at every place on demand. */
export class MemoryObjectStorages implements ObjectStorages {
  readonly #stores = new Map<string, MemoryObjectStorage>();
  readonly #faults = new Map<string, MemoryFaults>();
  readonly #hostKeys = new Map<string, string>();
  /** How many storages are open now. */
  opened = 0;

  /** Returns the storage at a place: `bucket`, `user@host/folder` or a folder. */
  at(place: string): MemoryObjectStorage {
    const store = this.#stores.get(place) ?? new MemoryObjectStorage();
    this.#stores.set(place, store);
    return store;
  }

  /** Makes operations at a place fail or hang, until changed. Applies to storages opened afterwards. */
  break(place: string, faults: MemoryFaults): void {
    this.#faults.set(place, faults);
  }

  /** Sets the host key of the machine of a place. */
  showKey(place: string, hostKey: string): void {
    this.#hostKeys.set(place, hostKey);
  }

  async open(target: StorageTarget, { signal }: StorageOptions = {}): Promise<OpenStorage> {
    const place = placeOf(target);
    const faults = this.#faults.get(place) ?? {};
    await meet(faults.open, signal);
    const hostKey = this.#hostKeys.get(place) ?? null;
    if (target.kind === "remote_folder" && (target.remote.hostKey ?? hostKey) !== hostKey) {
      throw new Failure("conflict", "host_key_changed", `Cannot trust ${place}: its host key is ${hostKey}`);
    }
    const store = this.at(place);
    const guarded = <Args extends unknown[], T>(
      name: keyof MemoryObjectStorage,
      work: (...args: Args) => Promise<T>,
      signalOf: (args: Args) => AbortSignal | undefined,
    ) => {
      return async (...args: Args): Promise<T> => {
        await meet(faults[name], signalOf(args));
        return work.apply(store, args);
      };
    };
    this.opened++;
    return {
      hostKey,
      put: guarded("put", store.put, ([, , options]) => options?.signal),
      get: guarded("get", store.get, ([, options]) => options?.signal),
      stat: guarded("stat", store.stat, ([, options]) => options?.signal),
      list: guarded("list", store.list, ([, options]) => options?.signal),
      remove: guarded("remove", store.remove, ([, options]) => options?.signal),
      unfinished: guarded("unfinished", store.unfinished, ([, options]) => options?.signal),
      discard: guarded("discard", store.discard, ([, options]) => options?.signal),
      sweep: guarded("sweep", store.sweep, ([, options]) => options.signal),
      [Symbol.asyncDispose]: async () => {
        this.opened--;
      },
    };
  }
}

function placeOf(target: StorageTarget): string {
  if (target.kind === "bucket") return target.bucket;
  if (target.kind === "local_folder") return target.folder;
  return `${target.remote.user}@${target.remote.host}/${target.folder}`;
}

async function meet(fault: Failure | "hangs" | undefined, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (fault === undefined) return;
  if (fault !== "hangs") throw fault;
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  await promise;
}
