import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalObjectStorages } from "../../adapters/local/object_storages.ts";
import { body, digestOf } from "../support/bodies.ts";

const GIB = 1024 ** 3;

test("a body of 1 GiB passes through a local folder in constant memory", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  try {
    const storages = new LocalObjectStorages({ dataFolder: join(root, "data") });
    const storage = await storages.open({ kind: "local_folder", root, folder: join(root, "backups") });
    const { stream, digest } = body(GIB);
    expect(await storage.put("large", stream)).toBe(GIB);
    expect(await digestOf(await storage.get("large"))).toEqual({ bytes: GIB, digest: digest() });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}, 180_000);
