import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { InstanceEndings } from "../../ports/services/instance_endings.ts";
import type { Instance, Runnable, RunRequest, Runtime } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";

/** The programs that the contract needs, as commands for the runtime under test. */
export interface ContractPrograms {
  /** Prints `started`, then responds to every request with `hello`. */
  readonly web: string;
  /** Prints `one` to `five`, one per line, and keeps running. */
  readonly talking: string;
  /** Exits at once with code 3. */
  readonly crashing: string;
  /** Runs without ever opening its port. */
  readonly silent: string;
  /** Uses more than its memory limit of 64 MiB. */
  readonly greedy: string;
  /** Responds to requests and ignores SIGTERM. */
  readonly stubborn: string;
  /** Prints `started`; on SIGTERM, prints `bye` and `for good`, the latter without a line end. */
  readonly polite: string;
}

/** A runtime with a release to run. */
export interface RuntimeForContract<From extends Runnable = Runnable> extends AsyncDisposable {
  readonly runtime: Runtime<From> & InstanceEndings;
  /** Returns what runs a command of the release. */
  readonly runs: (command: string) => From;
  readonly programs: ContractPrograms;
  /** Why the container id stays the same across restarts, if it does. */
  readonly keepsContainerId?: string;
  /** Why line numbers are increasing but not consecutive, if they are. */
  readonly numbersHaveGaps?: string;
  /** Why the number of restarts may begin anew when a program in a crash loop is restarted by hand, if it may. */
  readonly restartsBeginAnew?: string;
}

const GRACE = { graceMs: 2_000 };
let count = 0;

/** A run request for the contract's release, with a unique instance id. */
export function runRequest<From extends Runnable>(
  { runs }: Pick<RuntimeForContract<From>, "runs">,
  command: string,
  given: Partial<RunRequest<From>> = {},
): RunRequest<From> {
  return {
    instanceId: `instance-${++count}`,
    deploymentId: "dep_1",
    projectId: "prj_1",
    service: "app",
    scope: given.projectId ?? "prj_1",
    runs: runs(command),
    environment: new Map([["GREETING", new Secret("hello")]]),
    ...given,
  };
}

/** The response body of an instance, requested until it responds. */
export async function answerOf({ host, port }: Pick<Instance, "host" | "port">): Promise<string | undefined> {
  const ask = () => fetch(`http://${host}:${port}/`).then((answer) => answer.text());
  return eventually(
    () => ask().catch(() => undefined),
    (text) => text !== undefined,
  );
}

/** A command that fails `failures` times before it runs. Counts in a file in the given folder. */
export function afterFailures(failures: number, command: string, folder: string): string {
  const file = `${folder}/n`;
  return `n=$(cat ${file} 2>/dev/null); n=$((n + 1)); echo $n >${file}; [ $n -gt ${failures} ] || exit 3; ${command}`;
}

/** Resolves to the instance once it is in a crash loop, which takes several starts. */
export function whenFailing(runtime: Pick<Runtime, "find">, instanceId: string, { after = 0 } = {}) {
  return eventually(
    () => runtime.find(instanceId),
    (instance) => instance?.failing === true && instance.restarts > after,
  );
}

/** Resolves to the instance once it has this status. */
export function whenStatus(runtime: Pick<Runtime, "find">, instanceId: string, status: Instance["status"]) {
  return eventually(
    () => runtime.find(instanceId),
    (instance) => instance?.status === status,
  );
}

/**
 * Contract tests for `Runtime` adapters. `atOnce` runs them concurrently, for adapters with isolated worlds and slow
 * starts.
 */
export function runtimeContract<From extends Runnable>(
  name: string,
  open: () => Promise<RuntimeForContract<From>>,
  { atOnce = false } = {},
) {
  const promise = atOnce ? test.concurrent : test;
  describe(`Runtime contract: ${name}`, () => {
    promise("start() runs a program that answers at its address, and find() and list() return it", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const request = runRequest(world, programs.web);
      const started = await runtime.start(request);
      const { instanceId, deploymentId, projectId, service } = request;
      expect(started).toMatchObject({ instanceId, deploymentId, projectId, service, restarts: 0, exit: null });
      expect(await answerOf(started)).toBe("hello");
      const found = await whenStatus(runtime, instanceId, "running");
      expect(found).toMatchObject({ instanceId, status: "running", host: started.host, port: started.port });
      expect(started.ports.map(({ port }) => port)).toEqual([started.port!]);
      expect(found?.ports).toEqual(started.ports);
      expect(found?.containerId).toBeString();
      expect(found?.startedAt.getTime()).toBeLessThanOrEqual(Date.now());
      for (const all of [false, true]) {
        expect((await runtime.list({ all })).map((each) => each.instanceId)).toEqual([instanceId]);
      }
    });

    promise("start() assigns each instance its own address, and refuses an id that is taken", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const request = runRequest(world, programs.web);
      const [first, second] = await Promise.all([
        runtime.start(request),
        runtime.start(runRequest(world, programs.web)),
      ]);
      expect(first.port).not.toBe(second.port);
      const error = await runtime.start(request).catch((reason: unknown) => reason);
      expect((error as Failure).code).toBe("instance_exists");
      expect(await answerOf(first)).toBe("hello");
      expect(await answerOf(second)).toBe("hello");
    });

    promise("output() returns numbered lines, page by page", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const { instanceId } = await runtime.start(runRequest(world, programs.talking));
      const read = (since: number, limit: number) => runtime.output(instanceId, { since, limit });
      const all = await eventually(
        () => read(0, 100),
        (lines) => lines.length >= 5,
      );
      expect(all.map(({ stream, message }) => [stream, message])).toEqual(
        ["one", "two", "three", "four", "five"].map((message) => ["stdout", message]),
      );
      const numbers = all.map(({ seq }) => seq);
      expect(numbers.every((seq, index) => Number.isSafeInteger(seq) && seq > (numbers[index - 1] ?? 0))).toBe(true);
      if (!world.numbersHaveGaps) expect(numbers).toEqual([1, 2, 3, 4, 5]);
      expect(all.every(({ at }) => at.getTime() <= Date.now())).toBe(true);
      expect(await read(0, 2)).toEqual(all.slice(0, 2));
      expect(await read(numbers[1]!, 2)).toEqual(all.slice(2, 4));
      expect(await read(numbers[4]!, 10)).toEqual([]);
      expect(await runtime.output("unknown", { since: 0, limit: 10 })).toEqual([]);
    });

    promise("output() can start at a given time", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const { instanceId } = await runtime.start(runRequest(world, programs.talking));
      const all = (least: number) =>
        eventually(
          () => runtime.output(instanceId, { since: 0, limit: 100 }),
          ({ length }) => length >= least,
        );
      await all(5);
      await Bun.sleep(5);
      await runtime.restart(instanceId, GRACE);
      const lines = await all(10);
      const from = lines[5]!.at;
      expect(from > lines[4]!.at).toBe(true);
      const read = (since: number, limit: number, at: Date) => runtime.output(instanceId, { since, limit, from: at });
      expect(await read(0, 100, from)).toEqual(lines.slice(5));
      expect(await read(0, 2, from)).toEqual(lines.slice(5, 7));
      expect(await read(lines[6]!.seq, 100, from)).toEqual(lines.slice(7));
      expect(await read(lines[2]!.seq, 100, lines[0]!.at)).toEqual(lines.slice(3));
      expect(await read(0, 100, new Date(0))).toEqual([...lines]);
      expect(await read(0, 100, new Date(lines[9]!.at.getTime() + 1))).toEqual([]);
    });

    promise("usage() returns memory and its limit, and nothing for an unknown instance", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const limited = runRequest(world, programs.web, { memoryBytes: 1_000_000_000 });
      const [first, second] = [await runtime.start(limited), await runtime.start(runRequest(world, programs.web))];
      await Promise.all([answerOf(first), answerOf(second)]);
      const usage = await runtime.usage(first.instanceId);
      expect(usage?.memoryBytes).toBeGreaterThan(100_000);
      expect(usage?.cpuPercent).toBeGreaterThanOrEqual(0);
      expect(usage?.memoryLimitBytes).toBe(1_000_000_000);
      expect((await runtime.usage(second.instanceId))?.memoryLimitBytes).toBeNull();
      expect(await runtime.usage("unknown")).toBeUndefined();
    });

    promise("restart() starts the program again at the same address", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const started = await runtime.start(runRequest(world, programs.web));
      await answerOf(started);
      const before = await runtime.find(started.instanceId);
      const restarted = await runtime.restart(started.instanceId, GRACE);
      expect(restarted).toMatchObject({ host: started.host, port: started.port, restarts: 1, exit: null });
      expect(await answerOf(started)).toBe("hello");
      const after = await runtime.find(started.instanceId);
      if (world.keepsContainerId) expect(after!.startedAt.getTime()).toBeGreaterThan(before!.startedAt.getTime());
      else expect(after?.containerId).not.toBe(before!.containerId);
      const lines = await eventually(
        () => runtime.output(started.instanceId, { since: 0, limit: 10 }),
        ({ length }) => length >= 2,
      );
      expect(lines.map(({ message }) => message)).toEqual(["started", "started"]);
    });

    promise("introduce() does not change a running instance, even when repeated", async () => {
      await using world = await open();
      const started = await world.runtime.start(runRequest(world, world.programs.web, { unannounced: true }));
      expect(await answerOf(started)).toBe("hello");
      for (let time = 0; time < 2; time++) await world.runtime.introduce(started.instanceId);
      const { containerId, startedAt } = started;
      expect(await world.runtime.find(started.instanceId)).toMatchObject({ containerId, startedAt, restarts: 0 });
      expect(await answerOf(started)).toBe("hello");
    });

    promise(
      "restart() and introduce() of an unknown instance fail with not_found, and remove() ignores it",
      async () => {
        await using world = await open();
        for (const attempt of [world.runtime.restart("unknown", GRACE), world.runtime.introduce("unknown")]) {
          const error = await attempt.catch((reason: unknown) => reason);
          expect((error as Failure).kind).toBe("not_found");
        }
        await world.runtime.remove("unknown", GRACE);
        expect(await world.runtime.find("unknown")).toBeUndefined();
      },
    );

    promise.each(["web", "stubborn", "silent", "crashing"] as const)(
      "remove() ends and forgets a %s instance",
      async (which) => {
        await using world = await open();
        const { runtime, programs } = world;
        const started = await runtime.start(runRequest(world, programs[which]));
        if (which === "web" || which === "stubborn") await answerOf(started);
        await runtime.remove(started.instanceId, { graceMs: 300 });
        expect(await runtime.find(started.instanceId)).toBeUndefined();
        expect(await runtime.list()).toEqual([]);
        expect(await runtime.output(started.instanceId, { since: 0, limit: 10 })).toEqual([]);
        await expect(fetch(`http://${started.host}:${started.port}/`)).rejects.toThrow();
        await runtime.remove(started.instanceId, GRACE);
      },
    );

    promise("a program that never opens its port stays starting", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const started = await runtime.start(runRequest(world, programs.silent));
      await expect(fetch(`http://${started.host}:${started.port}/`)).rejects.toThrow();
      await Bun.sleep(300);
      expect(await runtime.find(started.instanceId)).toMatchObject({ status: "starting", exit: null });
    });

    promise(
      "a program that keeps exiting is in a crash loop, reported by onEnding() and its output; restart() retries",
      async () => {
        await using world = await open();
        const { runtime, programs } = world;
        const endings: string[] = [];
        const forget = runtime.onEnding((id) => void endings.push(id));
        const { instanceId } = await runtime.start(runRequest(world, programs.crashing));
        const ended = await whenFailing(runtime, instanceId);
        const notes = async () => {
          const lines = await runtime.output(instanceId, { since: 0, limit: 1_000 });
          return lines.filter(({ stream }) => stream === "slipway").map(({ message }) => message);
        };
        const noted = await eventually(notes, ({ length }) => length >= 5);
        for (const note of noted)
          expect(note).toMatch(/^The program ended with code 3, (next try in [\d.]+ s|started again)$/);
        expect(new Set(endings)).toEqual(new Set([instanceId]));
        forget();
        const looping = { status: "restarting", containerId: null, exit: { code: 3, reason: "exited" } };
        expect(ended).toMatchObject({ ...looping, nextStartAt: expect.any(Date) });
        expect(ended?.restarts).toBeGreaterThanOrEqual(5);
        await runtime.restart(instanceId, GRACE);
        const again = await whenFailing(runtime, instanceId, { after: ended!.restarts });
        expect(again).toMatchObject(looping);
        expect(again!.restarts - ended!.restarts).toBeGreaterThanOrEqual(world.restartsBeginAnew ? 1 : 6);
      },
    );

    promise("a one-shot program is not restarted, and its exit code is kept", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const { instanceId } = await runtime.start(runRequest(world, programs.crashing, { oneShot: true }));
      const ended = await whenStatus(runtime, instanceId, "exited");
      expect(ended).toMatchObject({ restarts: 0, exit: { code: 3, reason: "exited" } });
    });

    promise("a program that exceeds its memory limit is ended, and the reason is kept", async () => {
      await using world = await open();
      const { runtime, programs } = world;
      const request = runRequest(world, programs.greedy, { memoryBytes: 64 * 1024 * 1024, oneShot: true });
      const { instanceId } = await runtime.start(request);
      const ended = await whenStatus(runtime, instanceId, "exited");
      expect(ended).toMatchObject({ status: "exited", exit: { reason: "out_of_memory" } });
    });
  });
}
