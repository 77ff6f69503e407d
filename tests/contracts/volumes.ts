import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import { type ServiceRuntimeForContract, serviceRequest } from "./service_runtime.ts";

const GRACE = { graceMs: 0 };

/** A mounted volume of a scope. */
function data(scope: string, name = "data") {
  return { scope, mounts: [{ kind: "volume", name, target: "/kept", readOnly: false }] as const };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => "started").catch((error: Failure) => error.code);
}

async function listed({ volumes }: ServiceRuntimeForContract, scope: string): Promise<string[][]> {
  return (await volumes.list(scope)).map((volume) => [volume.scope, volume.name]).toSorted();
}

/** Contract tests for `Volumes` adapters, together with the runtime that mounts them. */
export function volumesContract(name: string, open: () => Promise<ServiceRuntimeForContract>, { atOnce = false } = {}) {
  const promise = atOnce ? test.concurrent : test;
  describe(`Volumes contract: ${name}`, () => {
    promise("volumes outlive instances, and list() returns those of one scope only", async () => {
      await using world = await open();
      expect(await world.volumes.list("prj_1")).toEqual([]);
      for (const given of [data("prj_1"), data("prj_1", "more"), data("prj_2")]) {
        const { instanceId } = await world.runtime.start(serviceRequest(world, world.programs.working, given));
        await world.runtime.remove(instanceId, GRACE);
      }
      expect(await listed(world, "prj_1")).toEqual([
        ["prj_1", "data"],
        ["prj_1", "more"],
      ]);
      expect(await listed(world, "prj_2")).toEqual([["prj_2", "data"]]);
    });

    promise(
      "remove() removes the volumes of a scope that are not in use, and accepts a scope without any",
      async () => {
        await using world = await open();
        const kept = await world.runtime.start(serviceRequest(world, world.programs.working, data("prj_1", "used")));
        for (const given of [data("prj_1"), data("prj_2")]) {
          const { instanceId } = await world.runtime.start(serviceRequest(world, world.programs.working, given));
          await world.runtime.remove(instanceId, GRACE);
        }
        await world.volumes.remove("prj_1");
        expect(await listed(world, "prj_1")).toEqual([["prj_1", "used"]]);
        expect(await listed(world, "prj_2")).toEqual([["prj_2", "data"]]);
        await world.runtime.remove(kept.instanceId, GRACE);
        await world.volumes.remove("prj_1");
        await world.volumes.remove("prj_1");
        expect(await listed(world, "prj_1")).toEqual([]);
      },
    );

    promise("measure() returns the size of each volume of the given scopes", async () => {
      await using world = await open();
      const bytes = 300_000;
      for (const given of [data("prj_1"), data("prj_1", "more"), data("dep_1"), data("prj_2")]) {
        const { instanceId } = await world.runtime.start(serviceRequest(world, world.programs.working, given));
        const [{ name: volume }] = given.mounts;
        if (volume === "more") await world.write({ scope: given.scope, name: volume }, instanceId, bytes);
      }
      const measured = (await world.volumes.measure(["prj_1", "dep_1", "prj_9"])).toSorted((a, b) =>
        `${a.scope} ${a.name}`.localeCompare(`${b.scope} ${b.name}`),
      );
      expect(measured).toEqual([
        { scope: "dep_1", name: "data", sizeBytes: 0 },
        { scope: "prj_1", name: "data", sizeBytes: 0 },
        { scope: "prj_1", name: "more", sizeBytes: bytes },
      ]);
      expect(await world.volumes.measure([])).toEqual([]);
    });

    promise("remove() keeps volumes that existed before, although instances of the scope used them", async () => {
      await using world = await open();
      const external = await world.makeExternal();
      const mounts = [{ kind: "external", name: external, target: "/kept", readOnly: false }] as const;
      const start = () =>
        world.runtime.start(serviceRequest(world, world.programs.working, { scope: "prj_1", mounts }));
      await world.runtime.remove((await start()).instanceId, GRACE);
      expect(await world.volumes.measure(["prj_1"])).toEqual([]);
      await world.volumes.remove("prj_1");
      expect(await codeOf(start())).toBe("started");
    });

    promise(
      "start() uses a volume that existed before, and refuses one that is missing or of another scope",
      async () => {
        await using world = await open();
        const external = (volume: string, scope = "prj_1") => {
          const mounts = [{ kind: "external", name: volume, target: "/kept", readOnly: false }] as const;
          return world.runtime.start(serviceRequest(world, world.programs.working, { scope, mounts }));
        };
        await world.runtime.start(serviceRequest(world, world.programs.working, data("prj_1")));
        const kept = await world.engineName({ scope: "prj_1", name: "data" });
        expect(await codeOf(external(await world.makeExternal()))).toBe("started");
        expect(await codeOf(external("no-such-volume"))).toBe("volume_missing");
        expect(await codeOf(external(kept, "prj_2"))).toBe("volume_foreign");
        expect(await codeOf(external(kept))).toBe("started");
        expect(await listed(world, "prj_1")).toEqual([["prj_1", "data"]]);
        expect(await world.runtime.list()).toHaveLength(3);
      },
    );
  });
}
