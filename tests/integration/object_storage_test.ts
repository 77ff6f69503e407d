import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { LocalObjectStorages } from "../../adapters/local/object_storages.ts";
import { MemoryObjectStorages } from "../../adapters/memory/object_storages.ts";
import { partName, splitKey } from "../../domain/backups/object_key.ts";
import { objectStorageContract } from "../contracts/object_storage.ts";

objectStorageContract("memory", async () => {
  const storages = new MemoryObjectStorages();
  const memory = storages.at("/backups");
  return {
    storage: await storages.open({ kind: "local_folder", root: "/", folder: "/backups" }),
    raw: async () => [...memory.objects.keys(), ...memory.left.keys()],
    abandon: async (key) => void memory.left.set(key, new Date()),
    async [Symbol.asyncDispose]() {},
  };
});

objectStorageContract("local folder", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  const folder = join(root, "made", "when needed");
  const storage = await new LocalObjectStorages({ dataFolder: join(root, "data") }).open({
    kind: "local_folder",
    root,
    folder,
  });
  return {
    storage,
    async raw() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
    },
    async abandon(key) {
      const path = join(folder, splitKey(key).folder, partName(splitKey(key).name));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, "half of i");
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
});
