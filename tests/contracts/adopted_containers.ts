import { describe, expect, test } from "bun:test";
import { adoptedInstanceId } from "../../domain/deployments/instance_id.ts";
import type { AdoptedContainers } from "../../ports/services/adopted_containers.ts";
import type { RunnableImage, RunRequest, Runtime } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";

/** A runtime on an engine where somebody else runs containers too. */
export interface AdoptedStage extends AsyncDisposable {
  readonly runtime: Runtime<RunnableImage> & AdoptedContainers;
  readonly image: string;
  /** Starts a container that prints `hello` and runs until it is stopped; resolves to its id. */
  startOutside(): Promise<string>;
  /** Removes such a container, as its owner would. */
  removeOutside(containerId: string): Promise<void>;
  /** Whether the engine would start a stopped container when it starts itself. */
  startsWithEngine(containerId: string): Promise<boolean>;
}

const GRACE = { graceMs: 10_000 };
const NAMES = { projectId: "prj_1", serverId: "srv_1", service: "web" };

function instanceOf(containerId: string, deploymentId = "dep_1"): string {
  return adoptedInstanceId({ ...NAMES, deploymentId, containerId });
}

function requestOf(instanceId: string, image: string): RunRequest<RunnableImage> {
  return {
    instanceId,
    deploymentId: "dep_1",
    projectId: NAMES.projectId,
    service: NAMES.service,
    scope: NAMES.projectId,
    runs: { kind: "image", image, command: null, ports: [] },
    environment: new Map(),
  };
}

/** Contract tests for runtimes on which containers are adopted that were not started by Slipway. */
export function adoptedContainersContract(name: string, open: () => Promise<AdoptedStage>) {
  describe(`Runtime contract, adopted containers: ${name}`, () => {
    test("find() shows an adopted container as the instance that its id says, and list() does not have it", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      for (const deploymentId of ["dep_1", "dep_2"]) {
        const instanceId = instanceOf(containerId, deploymentId);
        const { projectId, service } = NAMES;
        const found = await eventually(
          () => stage.runtime.find(instanceId),
          (instance) => instance?.status === "running",
        );
        expect(found).toMatchObject({
          instanceId,
          deploymentId,
          projectId,
          service,
          containerId,
          exit: null,
          ports: [],
        });
      }
      expect(await stage.runtime.list()).toEqual([]);
    });

    test("find() and usage() of a container that is gone return nothing, and remove() and rest() are no error", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      await stage.removeOutside(containerId);
      const instanceId = instanceOf(containerId);
      expect(await stage.runtime.find(instanceId)).toBeUndefined();
      expect(await stage.runtime.usage(instanceId)).toBeUndefined();
      await stage.runtime.remove(instanceId, GRACE);
      await stage.runtime.rest(instanceId);
    });

    test("start() leaves an adopted container that runs as it is", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      const instanceId = instanceOf(containerId);
      const before = await stage.runtime.find(instanceId);
      const started = await stage.runtime.start(requestOf(instanceId, stage.image));
      expect(started).toMatchObject({ instanceId, containerId, startedAt: before!.startedAt });
      expect(await stage.runtime.list()).toEqual([]);
    });

    test("remove() only stops an adopted container, and start() starts the same one again", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      const instanceId = instanceOf(containerId);
      let calls = 0;
      const beforeForgetting = async () => void calls++;
      await stage.runtime.remove(instanceId, { ...GRACE, beforeForgetting });
      const stopped = { status: "exited", containerId: null, exit: { reason: "stopped" } } as const;
      expect(await stage.runtime.find(instanceId)).toMatchObject(stopped);
      await stage.runtime.remove(instanceId, { ...GRACE, beforeForgetting });
      expect(calls).toBe(1);
      expect(await stage.runtime.find(instanceId)).toMatchObject(stopped);
      const started = await stage.runtime.start(requestOf(instanceId, stage.image));
      expect(started).toMatchObject({ instanceId, containerId, exit: null });
      expect(await stage.runtime.list()).toEqual([]);
    });

    test("start() makes an instance of its own where the adopted container is gone, and remove() removes it", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      await stage.removeOutside(containerId);
      const instanceId = instanceOf(containerId);
      await stage.runtime.start(requestOf(instanceId, stage.image));
      expect((await stage.runtime.list()).map((each) => each.instanceId)).toEqual([instanceId]);
      await stage.runtime.remove(instanceId, GRACE);
      expect(await stage.runtime.find(instanceId)).toBeUndefined();
      expect(await stage.runtime.list()).toEqual([]);
    });

    test("restart() stops and starts the same container", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      const instanceId = instanceOf(containerId);
      const before = await stage.runtime.find(instanceId);
      const restarted = await stage.runtime.restart(instanceId, GRACE);
      expect(restarted).toMatchObject({ instanceId, containerId, exit: null });
      expect(restarted.startedAt.getTime()).toBeGreaterThanOrEqual(before!.startedAt.getTime());
    });

    test("output() and usage() are those of the container", async () => {
      await using stage = await open();
      const instanceId = instanceOf(await stage.startOutside());
      const lines = await eventually(
        () => stage.runtime.output(instanceId, { since: 0, limit: 10 }),
        ({ length }) => length > 0,
      );
      expect(lines.map(({ message }) => message)).toEqual(["hello"]);
      expect((await stage.runtime.usage(instanceId))?.memoryBytes).toBeGreaterThan(0);
    });

    test("rest() makes a stopped container stay stopped, and leaves one alone that runs", async () => {
      await using stage = await open();
      const containerId = await stage.startOutside();
      const instanceId = instanceOf(containerId);
      await stage.runtime.rest(instanceId);
      expect(await stage.startsWithEngine(containerId)).toBe(true);
      expect(await stage.runtime.find(instanceId)).toMatchObject({ containerId });
      await stage.runtime.remove(instanceId, GRACE);
      expect(await stage.startsWithEngine(containerId)).toBe(true);
      await stage.runtime.rest(instanceId);
      await stage.runtime.rest(instanceId);
      expect(await stage.startsWithEngine(containerId)).toBe(false);
      expect(await stage.runtime.find(instanceId)).toMatchObject({ status: "exited" });
    });
  });
}
