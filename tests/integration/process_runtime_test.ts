import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InstanceFolder } from "../../adapters/process/instance_folder.ts";
import type { ProcessRuntime } from "../../adapters/process/runtime.ts";
import type { SandboxKind } from "../../adapters/process/sandbox.ts";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { Instance } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";
import { processWorld, type ProcessWorld, workingSandboxes } from "../support/apps/process_world.ts";
import { commandLineOf, processesWith, processIds } from "../support/processes_with.ts";
import { afterFailures, answerOf, runRequest, whenFailing, whenStatus } from "../contracts/runtime.ts";
import { uniqueNumber } from "../support/unique_number.ts";

/** A unique number of seconds to sleep, to find the process by. */
function marker(): string {
  return `90000.${uniqueNumber()}1`;
}

async function printed(runtime: ProcessRuntime, instanceId: string, count: number): Promise<string[]> {
  const lines = await eventually(
    () => runtime.output(instanceId, { since: 0, limit: 10_000 }),
    ({ length }) => length >= count,
  );
  return lines.map(({ message }) => message);
}

/** Runs a command to its end and returns its exit code and output. */
async function outcomeOf(world: ProcessWorld, command: string, environment = new Map<string, Secret>()) {
  const { instanceId } = await world.runtime.start(runRequest(world, command, { environment, oneShot: true }));
  const { exit } = (await whenStatus(world.runtime, instanceId, "exited"))!;
  return { code: exit!.code, lines: await printed(world.runtime, instanceId, 0) };
}

for (const kind of await workingSandboxes()) {
  describe(`ProcessRuntime (${kind}): what a program gets`, () => {
    test("start() passes the given environment, and only its own few variables in addition", async () => {
      await using world = await processWorld(kind);
      const odd = 'it\'s "odd"\n$(id) `id` \\ ü \u{1f680} \t*';
      const environment = new Map([
        ["ODD", new Secret(odd)],
        ["EMPTY", new Secret("")],
        ["PORT", new Secret("1")],
        ["HOME", new Secret("/root")],
        ["PATH", new Secret("/own/bin")],
      ]);
      const { code, lines } = await outcomeOf(world, `bun -e 'console.log(JSON.stringify(process.env))'`, environment);
      const seen = JSON.parse(lines[0]!) as Record<string, string>;
      expect(code).toBe(0);
      expect(Object.keys(seen).sort()).toEqual(["EMPTY", "HOME", "NODE_ENV", "ODD", "PATH", "PORT", "PWD"]);
      expect(seen).toMatchObject({ ODD: odd, EMPTY: "", NODE_ENV: "production" });
      expect(Number(seen["PORT"])).toBeGreaterThan(1024);
      expect(seen["HOME"]).not.toBe("/root");
      expect(seen["PATH"]).toStartWith("/own/bin:");
    });

    test("start() sets PORT to its own port, even if another was given, and it answers there", async () => {
      await using world = await processWorld(kind);
      const environment = new Map([["PORT", new Secret("5000")]]);
      const serve = `Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT, fetch: () => new Response(process.env.PORT) })`;
      const started = await world.runtime.start(runRequest(world, `bun -e '${serve}'`, { environment }));
      expect(await answerOf(started)).toBe(`${started.port}`);
      expect(started.port).not.toBe(5000);
    });

    test("start() keeps a given NODE_ENV, and finds bun and node", async () => {
      await using world = await processWorld(kind);
      const environment = new Map([["NODE_ENV", new Secret("test")]]);
      const command = `echo $NODE_ENV; bun -e 'console.log(6 * 7)'; node -e 'console.log(6 * 7)'; bunx --version`;
      const { lines } = await outcomeOf(world, command, environment);
      expect(lines).toEqual(["test", "42", "42", Bun.version]);
    });

    test("start() provides a home, a temporary folder and a writable release", async () => {
      await using world = await processWorld(kind);
      const command = `echo 1 >"$HOME/a" && echo 2 >/tmp/slipway-test-$PORT && cat "$HOME/a" && rm /tmp/slipway-test-$PORT && echo 3 >made`;
      expect(await outcomeOf(world, command)).toEqual({ code: 0, lines: ["1"] });
      expect(readFileSync(join(world.folder, "made"), "utf8")).toBe("3\n");
    });

    test("start() runs it in the given folder, and refuses one outside of the release", async () => {
      await using world = await processWorld(kind);
      const { runtime, folder } = world;
      await mkdir(join(folder, "apps/web"), { recursive: true });
      for (const workingFolder of [join(folder, "apps/web"), "apps/web"]) {
        const request = runRequest(world, "pwd", {
          runs: { kind: "folder", folder, workingFolder, command: "pwd" },
          oneShot: true,
        });
        await runtime.start(request);
        expect((await printed(runtime, request.instanceId, 1))[0]).toEndWith("/apps/web");
      }
      for (const workingFolder of ["..", "../..", "/etc", "missing", "web.ts"]) {
        const error = await runtime
          .start(runRequest(world, "pwd", { runs: { kind: "folder", folder, workingFolder, command: "pwd" } }))
          .catch((reason: unknown) => reason);
        expect([workingFolder, (error as Failure).code]).toEqual([workingFolder, "no_such_folder"]);
      }
      expect(await runtime.list()).toHaveLength(2);
    });

    test("no secret is in a process list, a file, or the environment of anything with more permissions", async () => {
      await using world = await processWorld(kind);
      const canary = `canary-${crypto.randomUUID()}`;
      const environment = new Map([
        ["GREETING", new Secret(canary)],
        ["LD_PRELOAD", new Secret("/no/such/library.so")],
      ]);
      const started = await world.runtime.start(runRequest(world, world.programs.web, { environment }));
      expect(await answerOf(started)).toBe(canary);
      expect(processIds().filter((pid) => commandLineOf(pid).includes(canary))).toEqual([]);
      for (const name of await readdir(world.data, { recursive: true })) {
        const file = join(world.data, name);
        if (!(await stat(file)).isFile()) continue;
        const content = readFileSync(file);
        const forms = [canary, new TextEncoder().encode(canary).toBase64().replaceAll("=", "")];
        expect([name, forms.some((form) => content.includes(form))]).toEqual([name, false]);
      }
      const launcher = readFileSync(`/proc/${started.containerId}/environ`, "utf8");
      expect(launcher.split("\0").filter((entry) => !/^(PATH|PWD)=/.test(entry))).toEqual([""]);
    });
  });

  // Without root and without a sandbox, a program can read everything that its server can.
  if (kind !== "plain" || process.getuid?.() === 0) {
    test(`ProcessRuntime (${kind}): a program cannot read the data folder, another release, or another program`, async () => {
      await using world = await processWorld(kind);
      const other = join(world.data, "releases", "dep_2");
      await mkdir(other, { recursive: true });
      await writeFile(join(world.data, "secret.key"), "key", { mode: 0o600 });
      await writeFile(join(other, "private"), "private", { mode: 0o600 });
      const server = await world.runtime.start(runRequest(world, world.programs.web));
      await answerOf(server);
      const paths = [
        join(world.data, "secret.key"),
        join(other, "private"),
        `/proc/${process.pid}/environ`,
        "/etc/shadow",
      ];
      const others = kind === "plain" ? [] : [`/proc/${server.containerId}/stat`, join(world.folder, "web.ts")];
      for (const path of [...paths, ...others]) {
        expect([path, (await outcomeOf(world, `cat ${path} 2>/dev/null`)).lines]).toEqual([path, []]);
      }
      expect((await outcomeOf(world, "echo x 2>/dev/null >/etc/slipway-test")).code).not.toBe(0);
      expect((await outcomeOf(world, "echo x 2>/dev/null >/usr/slipway-test")).code).not.toBe(0);
    });
  }

  describe(`ProcessRuntime (${kind}): how a program ends`, () => {
    test("remove() lets it finish its work", async () => {
      await using world = await processWorld(kind);
      const file = join(world.folder, "bye");
      const command = `trap 'sleep 0.2; echo bye >bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
      const { instanceId } = await world.runtime.start(runRequest(world, command));
      await printed(world.runtime, instanceId, 1);
      await world.runtime.remove(instanceId, { graceMs: 5_000 });
      expect(readFileSync(file, "utf8")).toBe("bye\n");
    });

    test("remove() leaves no child behind, however it detached", async () => {
      await using world = await processWorld(kind);
      const seconds = marker();
      const command = [
        "trap '' TERM",
        `sleep ${seconds} &`,
        `(setsid sh -c 'trap "" TERM; sleep ${seconds} & sleep ${seconds}' &)`,
        `sh -c 'kill -STOP $$; sleep ${seconds}' &`,
        "echo ready; while :; do wait; sleep 0.1; done",
      ].join("\n");
      const { instanceId } = await world.runtime.start(runRequest(world, command));
      await printed(world.runtime, instanceId, 1);
      expect(
        (
          await eventually(
            async () => processesWith(seconds),
            ({ length }) => length >= 4,
          )
        ).length,
      ).toBeGreaterThanOrEqual(4);
      await world.runtime.remove(instanceId, { graceMs: 200 });
      expect(processesWith(seconds)).toEqual([]);
    });

    test("children of a program that ended are gone before it is started again", async () => {
      await using world = await processWorld(kind);
      const seconds = marker();
      const command = `(setsid sleep ${seconds} &); sleep ${seconds} & sleep 0.1; exit 1`;
      const { instanceId } = await world.runtime.start(runRequest(world, command));
      await whenFailing(world.runtime, instanceId);
      const left = await eventually(
        async () => processesWith(seconds),
        ({ length }) => length === 0,
      );
      expect(left).toEqual([]);
    });

    test("a launcher that is killed takes its program with it, and both are restarted", async () => {
      await using world = await processWorld(kind);
      const started = await world.runtime.start(runRequest(world, world.programs.web));
      await answerOf(started);
      process.kill(Number(started.containerId), "SIGKILL");
      const again = await eventually(
        () => world.runtime.find(started.instanceId),
        (instance) => instance?.status === "running" && instance.restarts === 1,
      );
      expect(again).toMatchObject({ status: "running", restarts: 1, port: started.port });
      expect(again?.containerId).not.toBe(started.containerId);
      expect(await answerOf(started)).toBe("hello");
    });

    test("out of memory counts as a crash: it is restarted with growing pauses, and the reason is kept", async () => {
      await using world = await processWorld(kind);
      const request = runRequest(world, world.programs.greedy, { memoryBytes: 64 * 1024 * 1024 });
      const { instanceId } = await world.runtime.start(request);
      const seen = await eventually(
        () => world.runtime.find(instanceId),
        (instance) => (instance?.restarts ?? 0) > 0,
      );
      expect(seen?.restarts).toBeGreaterThan(0);
      const ended = await whenFailing(world.runtime, instanceId);
      expect(ended).toMatchObject({ status: "restarting", restarts: 5, exit: { reason: "out_of_memory" } });
    });

    test("a program that could not run for a while is restarted by itself as soon as it can", async () => {
      await using world = await processWorld(kind);
      const { instanceId } = await world.runtime.start(
        runRequest(world, afterFailures(5, world.programs.web, "$HOME")),
      );
      await whenFailing(world.runtime, instanceId);
      const back = await whenStatus(world.runtime, instanceId, "running");
      expect(back).toMatchObject({ restarts: 5, failing: false, nextStartAt: null, exit: null });
      expect(await answerOf(back!)).toBe("hello");
    });

    test("a program that an earlier version gave up on is restarted by the next server", async () => {
      await using world = await processWorld(kind);
      const { instanceId } = await world.runtime.start(runRequest(world, world.programs.web));
      const started = await whenStatus(world.runtime, instanceId, "running");
      await world.runtime[Symbol.asyncDispose]();
      const folder = new InstanceFolder(join(world.data, "instances", instanceId));
      process.kill(Number(started!.containerId), "SIGKILL");
      await eventually(
        async () => folder.isUp(),
        (isUp) => !isUp,
      );
      await folder.writeState({ ...folder.state()!, phase: "ended", endings: [1, 2, 3, 4, 5] });
      await using next = world.another();
      await next.supervise();
      expect(await whenStatus(next, instanceId, "running")).toMatchObject({ status: "running", exit: null });
    });
  });

  describe(`ProcessRuntime (${kind}): across the death of servers`, () => {
    test("a program survives kill -9 of its server and is adopted, with continued line numbers", async () => {
      await using world = await processWorld(kind);
      await world.runtime[Symbol.asyncDispose]();
      await using owner = await ownerOf(world, kind, [
        "i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done",
        world.programs.web,
      ]);
      const [counting, web] = owner.instances as [Instance, Instance];
      await printed(world.runtime, counting.instanceId, 20);
      await owner.kill();
      expect(await answerOf(web)).toBe("hello");
      await Bun.sleep(300);
      await world.runtime.supervise();
      expect(await world.runtime.find(web.instanceId)).toMatchObject({
        status: "running",
        containerId: web.containerId,
        restarts: 0,
      });
      const so = (await printed(world.runtime, counting.instanceId, 0)).length;
      const lines = await printed(world.runtime, counting.instanceId, so + 10);
      expect(lines).toEqual(lines.map((_, index) => `${index + 1}`));
      expect((await world.runtime.usage(web.instanceId))?.memoryBytes).toBeGreaterThan(100_000);
    });

    test("a program that ended while no server was running is restarted by the next one", async () => {
      await using world = await processWorld(kind);
      const started = await world.runtime.start(runRequest(world, world.programs.web));
      await answerOf(started);
      await world.runtime[Symbol.asyncDispose]();
      process.kill(Number(started.containerId), "SIGKILL");
      await eventually(
        () => world.runtime.find(started.instanceId),
        (instance) => instance?.containerId === null,
      );
      await using next = world.another();
      await next.supervise();
      const again = await whenStatus(next, started.instanceId, "running");
      expect(again).toMatchObject({ status: "running", port: started.port });
      expect(await answerOf(started)).toBe("hello");
    });

    test("of two servers one supervises, both can read and change everything, and the other takes over", async () => {
      await using world = await processWorld(kind);
      await using second = world.another();
      await second.supervise();
      const first = world.runtime;
      const started = await second.start(runRequest(world, world.programs.web));
      await answerOf(started);
      expect((await first.list()).map(({ instanceId }) => instanceId)).toEqual([started.instanceId]);
      expect((await first.usage(started.instanceId))?.memoryBytes).toBeGreaterThan(100_000);
      expect((await first.restart(started.instanceId, { graceMs: 1_000 })).restarts).toBe(1);
      expect(await printed(second, started.instanceId, 2)).toEqual(["started", "started"]);
      await first[Symbol.asyncDispose]();
      process.kill(Number((await second.find(started.instanceId))!.containerId), "SIGKILL");
      const again = await eventually(
        () => second.find(started.instanceId),
        (instance) => instance?.restarts === 2 && instance.status === "running",
      );
      expect(again).toMatchObject({ restarts: 2, status: "running" });
      await Promise.all([
        first.remove(started.instanceId, { graceMs: 500 }),
        second.remove(started.instanceId, { graceMs: 500 }),
      ]);
      expect(await second.list()).toEqual([]);
    });

    test("two servers that restart and remove at once leave one program, or none", async () => {
      await using world = await processWorld(kind);
      await using second = world.another();
      await second.supervise();
      const seconds = marker();
      const { instanceId } = await world.runtime.start(runRequest(world, `exec sleep ${seconds}`));
      await Promise.all(
        [world.runtime, second, world.runtime, second].map((each) => each.restart(instanceId, { graceMs: 500 })),
      );
      // The command lines of the launcher and the sandbox contain the command, too; only the program itself is counted.
      const programs = () => processesWith(seconds).filter((pid) => commandLineOf(pid) === `sleep\0${seconds}\0`);
      expect(
        await eventually(
          async () => programs().length,
          (count) => count === 1,
        ),
      ).toBe(1);
      await Promise.allSettled([
        world.runtime.remove(instanceId, { graceMs: 500 }),
        second.restart(instanceId, { graceMs: 500 }),
        second.remove(instanceId, { graceMs: 500 }),
      ]);
      expect(await second.list()).toEqual([]);
      expect(processesWith(seconds)).toEqual([]);
    });
  });
}

interface Owner extends AsyncDisposable {
  readonly instances: readonly Instance[];
  kill(): Promise<void>;
}

/** Another server process on the same data folder. */
async function ownerOf(world: ProcessWorld, kind: SandboxKind, commands: readonly string[]): Promise<Owner> {
  const script = new URL("../support/apps/process_runtime_owner.ts", import.meta.url).pathname;
  const owner = Bun.spawn([process.execPath, script, world.data, kind, world.folder, ...commands], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await owner.stdout.getReader().read();
  const kill = async () => {
    owner.kill("SIGKILL");
    await owner.exited;
  };
  return {
    instances: JSON.parse(new TextDecoder().decode(value)) as Instance[],
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
