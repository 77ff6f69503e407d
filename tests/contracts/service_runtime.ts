import { describe, expect, test } from "bun:test";
import { type ContainerSpec, PLAIN_CONTAINER } from "../../domain/services/service_spec.ts";
import type { Instance, RunnableImage, RunnableMount, RunRequest, Runtime } from "../../ports/services/runtime.ts";
import type { Volume, Volumes } from "../../ports/services/volumes.ts";
import { eventually } from "../support/eventually.ts";
import { runRequest, whenStatus } from "./runtime.ts";

/** The programs of services, as commands for the runtime under test. */
export interface ServicePrograms {
  /** Responds on the ports 8080 and 9090 with the port number. */
  readonly answering: string;
  /** Runs without listening on a port. */
  readonly working: string;
  /** Prints `migrated` and exits with code 0. */
  readonly migrating: string;
  /** Prints `broken` and exits with code 4. */
  readonly failing: string;
  /** Runs, and its health check succeeds. */
  readonly well: string;
  /** Runs, and its health check fails. */
  readonly unwell: string;
}

/** A runtime for images, with its volumes. */
export interface ServiceRuntimeForContract extends AsyncDisposable {
  readonly runtime: Runtime<RunnableImage>;
  readonly volumes: Volumes;
  readonly image: string;
  readonly programs: ServicePrograms;
  /** Resolves a service name from within an instance; returns the instances found, none if the name is unknown. */
  found(instanceId: string, name: string): Promise<readonly string[]>;
  /** The engine's name of a scope's volume. */
  engineName(volume: Volume): Promise<string>;
  /** Creates an external volume and returns its name. */
  makeExternal(): Promise<string>;
  /** Writes `bytes` bytes into a volume that an instance has mounted at `/kept`. */
  write(volume: Volume, instanceId: string, bytes: number): Promise<void>;
}

const GRACE = { graceMs: 0 };
const CHECK = { test: ["test", "!", "-e", "/tmp/unwell"], intervalMs: 200, timeoutMs: 5_000, retries: 1 } as const;

/** A run request for a service's program, with its ports, mounts and container options. */
export function serviceRequest(
  { image }: Pick<ServiceRuntimeForContract, "image">,
  command: string | null,
  given: Partial<RunRequest<RunnableImage>> & {
    readonly ports?: readonly number[];
    readonly mounts?: readonly RunnableMount[];
    readonly container?: Partial<ContainerSpec>;
  } = {},
): RunRequest<RunnableImage> {
  const { ports = [], mounts = [], container = {}, ...request } = given;
  const spec = { ...PLAIN_CONTAINER, ...container };
  const runs = () => ({ kind: "image", image, command, ports, mounts, container: spec }) as const;
  return runRequest<RunnableImage>({ runs }, "", request);
}

async function answers({ host, ports }: Instance): Promise<(string | undefined)[]> {
  const ask = (port: number) => fetch(`http://${host}:${port}/`).then((answer) => answer.text());
  return Promise.all(
    ports.map(({ port }) =>
      eventually(
        () => ask(port).catch(() => undefined),
        (text) => text !== undefined,
      ),
    ),
  );
}

/** Contract tests for runtimes of images, beyond the contract of all runtimes. */
export function serviceRuntimeContract(
  name: string,
  open: () => Promise<ServiceRuntimeForContract>,
  { atOnce = false } = {},
) {
  const promise = atOnce ? test.concurrent : test;

  describe(`Runtime contract for services: ${name}`, () => {
    promise(
      "start() publishes each port separately, the most important first, and keeps them after a restart",
      async () => {
        await using world = await open();
        const { runtime, programs } = world;
        const started = await runtime.start(serviceRequest(world, programs.answering, { ports: [9_090, 8_080] }));
        expect(started.ports.map(({ inside }) => inside)).toEqual([9_090, 8_080]);
        expect(started.port).toBe(started.ports[0]!.port);
        expect(new Set(started.ports.map(({ port }) => port)).size).toBe(2);
        expect(await answers(started)).toEqual(["9090", "8080"]);
        const again = await runtime.restart(started.instanceId, GRACE);
        expect(again.ports).toEqual(started.ports);
        expect(await answers(again)).toEqual(["9090", "8080"]);
        expect((await whenStatus(runtime, started.instanceId, "running"))?.ports).toEqual(started.ports);
      },
    );

    promise("start() without ports publishes nothing, and the instance counts as running once it is up", async () => {
      await using world = await open();
      const started = await world.runtime.start(serviceRequest(world, world.programs.working));
      expect(started).toMatchObject({ status: "running", port: null, ports: [] });
      expect(await world.runtime.find(started.instanceId)).toMatchObject({ status: "running", port: null, ports: [] });
    });

    promise("a one-shot keeps its exit code and output, whether it succeeded or failed", async () => {
      await using world = await open();
      for (const [program, code, message] of [
        ["migrating", 0, "migrated"],
        ["failing", 4, "broken"],
      ] as const) {
        const request = serviceRequest(world, world.programs[program], { oneShot: true });
        await world.runtime.start(request);
        const ended = await whenStatus(world.runtime, request.instanceId, "exited");
        expect(ended).toMatchObject({ restarts: 0, containerId: null, exit: { code, reason: "exited" } });
        const lines = await world.runtime.output(request.instanceId, { since: 0, limit: 10 });
        expect(lines.map((line) => line.message)).toEqual([message]);
      }
    });

    promise.each([
      ["well", "healthy"],
      ["unwell", "unhealthy"],
    ] as const)("start() reports a health check, and find() its result for a %s instance", async (program, health) => {
      await using world = await open();
      const healthcheck = { ...CHECK, startPeriodMs: null };
      const request = serviceRequest(world, world.programs[program], { container: { healthcheck } });
      expect((await world.runtime.start(request)).health).not.toBeNull();
      const find = () => world.runtime.find(request.instanceId);
      expect(await eventually(find, (instance) => instance?.health === health)).toMatchObject({ health });
    });

    promise("instances of one scope are found by service name and aliases, those of other scopes are not", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const db = serviceRequest(world, programs.working, { service: "db", container: { aliases: ["store", "data"] } });
      const [near, far] = ["prj_1", "prj_2"].map((scope) => serviceRequest(world, programs.working, { scope }));
      await Promise.all([db, near!, far!].map((request) => runtime.start(request)));
      for (const known of ["db", "store", "data"]) {
        expect([known, await world.found(near!.instanceId, known)]).toEqual([known, [db.instanceId]]);
        expect([known, await world.found(far!.instanceId, known)]).toEqual([known, []]);
      }
    });

    promise(
      "an unannounced instance is not found before introduce(), then it alone is found, even while the old one runs",
      async () => {
        await using world = await open();
        const { runtime, programs } = world;
        const api = (given: Partial<RunRequest<RunnableImage>>) =>
          serviceRequest(world, programs.working, { service: "api", container: { aliases: ["backend"] }, ...given });
        const old = api({});
        const web = serviceRequest(world, programs.working, { service: "web" });
        await Promise.all([old, web].map((request) => runtime.start(request)));
        const expectFound = async (by: readonly string[], ids: readonly string[]) => {
          for (const asker of by) {
            for (const known of ["api", "backend"]) {
              expect([asker, known, await world.found(asker, known)]).toEqual([asker, known, ids.toSorted()]);
            }
          }
        };
        // Twice: in the second round the name has already been handed over before.
        let [before, askers] = [old.instanceId, [web.instanceId]];
        for (let time = 0; time < 2; time++) {
          const next = api({ unannounced: true });
          await runtime.start(next);
          await expectFound(askers, [before]);
          await runtime.introduce(next.instanceId);
          await runtime.introduce(next.instanceId);
          const late = serviceRequest(world, programs.working, { service: "late" });
          await runtime.start(late);
          askers = [...askers, late.instanceId];
          await expectFound([...askers, before, next.instanceId], [next.instanceId]);
          for (const each of [web, next]) await runtime.restart(each.instanceId, GRACE);
          await expectFound(askers, [next.instanceId]);
          await runtime.remove(before, GRACE);
          await expectFound(askers, [next.instanceId]);
          await runtime.restart(web.instanceId, GRACE);
          await expectFound([web.instanceId], [next.instanceId]);
          before = next.instanceId;
        }
      },
    );

    promise("after removal of an introduced instance, the previous one is found again", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const [first, second, third] = [false, true, true].map((unannounced) =>
        serviceRequest(world, programs.working, { service: "api", unannounced }),
      );
      const web = serviceRequest(world, programs.working, { service: "web" });
      for (const request of [web, first!, second!, third!]) await runtime.start(request);
      for (const next of [second!, third!]) await runtime.introduce(next.instanceId);
      // Already introduced before: repeating it does not take the name back.
      await runtime.introduce(second!.instanceId);
      for (const [current, before] of [
        [third!, second!],
        [second!, first!],
      ] as const) {
        expect(await world.found(web.instanceId, "api")).toEqual([current.instanceId]);
        await runtime.remove(current.instanceId, GRACE);
        expect(await world.found(web.instanceId, "api")).toEqual([before.instanceId]);
      }
    });

    promise("introduce() keeps a name that instances of other services share", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const sharing = (service: string, unannounced: boolean) =>
        serviceRequest(world, programs.working, { service, unannounced, container: { aliases: ["backend"] } });
      const web = serviceRequest(world, programs.working, { service: "web" });
      const [one, two] = [sharing("one", false), sharing("two", false)];
      const [nextOne, nextTwo] = [sharing("one", true), sharing("two", true)];
      const late = sharing("late", false);
      const expectFound = async (...requests: readonly RunRequest[]) =>
        expect(await world.found(web.instanceId, "backend")).toEqual(
          requests.map(({ instanceId }) => instanceId).toSorted(),
        );
      for (const request of [web, one, two, nextOne, nextTwo]) await runtime.start(request);
      await expectFound(one, two);
      await runtime.introduce(nextOne.instanceId);
      await expectFound(nextOne, two);
      await runtime.introduce(nextTwo.instanceId);
      await expectFound(nextOne, nextTwo);
      await runtime.start(late);
      await expectFound(nextOne, nextTwo, late);
      for (const { instanceId } of [one, two]) await runtime.remove(instanceId, GRACE);
      await expectFound(nextOne, nextTwo, late);
      expect(await world.found(web.instanceId, "one")).toEqual([nextOne.instanceId]);
    });
  });
}
