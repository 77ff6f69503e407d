import type { ObjectStorage } from "../../../ports/backups/object_storage.ts";

/** Wraps a store so that all its keys lie under a prefix (a folder of the store). */
export function prefixed(storage: ObjectStorage, folder: string | null): ObjectStorage {
  if (folder === null) return storage;
  const full = (key: string) => `${folder}/${key}`;
  const short = (key: string) => key.slice(folder.length + 1);
  return {
    put: (key, content, options) => storage.put(full(key), content, options),
    get: (key, options) => storage.get(full(key), options),
    async stat(key, options) {
      const found = await storage.stat(full(key), options);
      return found && { ...found, key };
    },
    async list(prefix, { after, ...options } = {}) {
      const page = await storage.list(full(prefix), { ...options, ...(after !== undefined && { after: full(after) }) });
      return {
        objects: page.objects.map((object) => ({ ...object, key: short(object.key) })),
        next: page.next === null ? null : short(page.next),
      };
    },
    remove: (key, options) => storage.remove(full(key), options),
    async unfinished(prefix, options) {
      return (await storage.unfinished(full(prefix), options)).map(short);
    },
    discard: (key, options) => storage.discard(full(key), options),
    sweep: (prefix, options) => storage.sweep(full(prefix), options),
  };
}
