import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalObjectStorages } from "../../adapters/local/object_storages.ts";
import { body, digestOf } from "../support/inputs/bodies.ts";
import { memoryGrowth } from "../support/memory_growth.ts";

const BYTES = 512 * 2 ** 20;

test("a large body is written to and read from a local folder in constant memory", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  try {
    const storages = new LocalObjectStorages({ dataFolder: join(root, "data") });
    const storage = await storages.open({ kind: "local_folder", root, folder: join(root, "backups") });
    const { stream, digest } = body(BYTES);
    const grown = await memoryGrowth(async () => {
      expect(await storage.put("large", stream)).toBe(BYTES);
      expect(await digestOf(await storage.get("large"))).toEqual({ bytes: BYTES, digest: digest() });
    });
    expect(grown).toBeLessThan(BYTES / 2);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
