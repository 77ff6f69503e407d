import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CombinedSealedRows } from "../../../adapters/dispatch/combined_sealed_rows.ts";
import { MemorySealedRows, type SealedRow } from "../../../adapters/memory/sealed_rows.ts";
import { MemoryVault } from "../../../adapters/memory/vault.ts";
import { InstanceFolder, type InstanceRecord, type InstanceState } from "../../../adapters/process/instance_folder.ts";
import { SealedInstances } from "../../../adapters/process/sealed_instances.ts";
import { environmentPlace } from "../../../adapters/process/supervised_instance.ts";
import { Secret } from "../../../domain/secret.ts";
import type { SealedRows } from "../../../ports/system/sealed_rows.ts";
import { type SealedRowsWorld, sealedRowsContract } from "../../contracts/sealed_rows.ts";

const KEYS = { currentKey: "current", formerKey: "former" };

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "slipway-"));
});

afterAll(() => rm(root, { recursive: true, force: true }));

function recordOf(instanceId: string, environment: string): InstanceRecord {
  return {
    instanceId,
    deploymentId: "dep_1",
    projectId: "prj_1",
    service: "app",
    folder: "/nowhere",
    workingFolder: "",
    command: "true",
    environment,
    memoryBytes: null,
    oneShot: false,
    port: 1,
  };
}

const STATE: InstanceState = {
  phase: "ended",
  startedAt: 0,
  startAt: 0,
  depth: 1,
  restarts: 0,
  endings: [],
  exit: null,
  tooLarge: false,
};

/** A folder of instances whose environments are encrypted (sealed) with a former key. */
async function openInstances() {
  const folder = join(root, crypto.randomUUID());
  await mkdir(folder);
  const former = new MemoryVault("former");
  const current = new MemoryVault("current", "former");
  const storeFormerly: SealedRowsWorld["storeFormerly"] = async (secret) => {
    const id = crypto.randomUUID();
    const instance = new InstanceFolder(join(folder, id));
    const place = environmentPlace(id);
    await instance.create(recordOf(id, await former.seal(secret, place)), STATE);
    return {
      read: () => current.open(instance.record()!.environment, place),
      /** As real changes happen: removes the instance and creates another one with its id. */
      async write(next) {
        using _ = await instance.hold();
        await instance.remove();
        await instance.create(recordOf(id, await current.seal(next, place)), STATE);
      },
    };
  };
  return { folder, current, storeFormerly, sealedRows: new SealedInstances({ folder, vault: current }) };
}

sealedRowsContract("instances of processes", async () => ({ ...KEYS, ...(await openInstances()) }));

sealedRowsContract("instances beside others", async () => {
  const instances = await openInstances();
  const rows: SealedRow[] = [];
  const others = new MemorySealedRows(rows, instances.current);
  let stored = 0;
  const former = new MemoryVault("former");
  return {
    ...KEYS,
    sealedRows: new CombinedSealedRows([instances.sealedRows, others]),
    async storeFormerly(secret) {
      if (stored++ % 2 === 0) return instances.storeFormerly(secret);
      const place = { table: "list", row: `${rows.length}`, field: "value" };
      const row: SealedRow = { place, sealed: await former.seal(secret, place) };
      rows.push(row);
      return {
        read: () => instances.current.open(row.sealed, place),
        async write(next) {
          row.sealed = await instances.current.seal(next, place);
        },
      };
    },
  };
});

describe("SealedInstances", () => {
  test("finds nothing where nothing ever ran, and creates nothing there", async () => {
    const sealedRows = new SealedInstances({ folder: join(root, "none"), vault: new MemoryVault("current") });
    expect([await sealedRows.reseal(10), await sealedRows.countByKey()]).toEqual([0, new Map()]);
  });

  test("leaves out instances that are being removed", async () => {
    const { folder, sealedRows, storeFormerly } = await openInstances();
    await storeFormerly(new Secret("one"));
    const [instance] = [...new Bun.Glob("*").scanSync({ cwd: folder, onlyFiles: false })];
    const removed = new InstanceFolder(join(folder, instance!));
    using _ = await removed.hold();
    await removed.writeState({ ...STATE, phase: "removed" });
    expect([await sealedRows.reseal(10), await sealedRows.countByKey()]).toEqual([0, new Map()]);
  });

  test("reseals the others although one cannot be read, and fails when only that one is left", async () => {
    const { folder, current, sealedRows, storeFormerly } = await openInstances();
    const lost = new InstanceFolder(join(folder, "lost"));
    const sealed = await new MemoryVault("lost").seal(new Secret("no more"), environmentPlace("lost"));
    await lost.create(recordOf("lost", sealed), STATE);
    await storeFormerly(new Secret("one"));
    const all = new CombinedSealedRows([sealedRows, new MemorySealedRows([], current)]);
    expect(await all.reseal(10)).toBe(1);
    await expect(all.reseal(10)).rejects.toMatchObject({ code: "secret_unreadable" });
  });
});

describe("CombinedSealedRows", () => {
  test("reaches the last store only when nothing is left in those before", async () => {
    const left = new Map([
      ["first", 2],
      ["last", 1],
    ]);
    const calls: string[] = [];
    const place = (name: string): SealedRows => ({
      countByKey: async () => new Map([["former", left.get(name)!]]),
      async reseal(limit) {
        calls.push(name);
        const done = Math.min(limit, left.get(name)!);
        left.set(name, left.get(name)! - done);
        return done;
      },
    });
    const all = new CombinedSealedRows([place("first"), place("last")]);
    expect(await all.countByKey()).toEqual(new Map([["former", 3]]));
    expect([await all.reseal(1), await all.reseal(1), await all.reseal(1), await all.reseal(1)]).toEqual([1, 1, 1, 0]);
    expect(calls).toEqual(["first", "first", "first", "last", "first", "last"]);
  });
});
