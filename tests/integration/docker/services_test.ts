import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Failure } from "../../../domain/failure.ts";
import type { ContainerSpec, ServiceFile } from "../../../domain/services/service_spec.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import { type DockerServices, dockerServices } from "../../support/peers/docker_services.ts";
import { tinyImage } from "../../support/peers/docker_world.ts";
import { eventually } from "../../support/eventually.ts";
import { faultyEngine } from "../../support/faults/faulty_engine.ts";
import { whenStatus } from "../../contracts/runtime.ts";
import { serviceNetworksContract } from "../../contracts/service_networks.ts";
import { serviceRequest, serviceRuntimeContract } from "../../contracts/service_runtime.ts";
import { volumesContract } from "../../contracts/volumes.ts";

// Adjacent tests run concurrently, and a sequential test in between keeps the groups small.

serviceRuntimeContract("Docker", () => dockerServices(), { atOnce: true });
serviceNetworksContract("Docker", () => dockerServices(), { atOnce: true });
volumesContract("Docker", () => dockerServices(), { atOnce: true });

const GRACE = { graceMs: 0 };
const SHOWING = `for a in "$@"; do printf '%s' "$a" | od -An -v -tx1 | tr -d ' \\n'; echo; done`;
/** Arguments that a shell or an option parser would not leave unchanged. */
const HOSTILE = [
  "$(touch /tmp/x)",
  "`id`",
  "two\nlines\n",
  "-n",
  "--",
  "",
  "  spaces ",
  "*",
  "ü\u{1f680}",
  `'"\\`,
  "$PATH",
];

const missing = { kind: "path", path: join(tmpdir(), "slipway-no-such-folder"), target: "/x", readOnly: true } as const;

const volume = (readOnly = false) => [{ kind: "volume", name: "data", target: "/kept", readOnly }] as const;

const hex = (text: string) => Buffer.from(text).toString("hex");

/** Runs a service to its end and returns its output and exit code. */
async function outcomeOf(world: DockerServices, request: RunRequest<RunnableImage>) {
  await world.runtime.start({ ...request, oneShot: true });
  const ended = await whenStatus(world.runtime, request.instanceId, "exited");
  const lines = await world.runtime.output(request.instanceId, { since: 0, limit: 1_000 });
  return { code: ended?.exit?.code, lines: lines.map(({ message }) => message) };
}

async function inspected(world: DockerServices, instanceId: string) {
  return JSON.parse(await world.docker("inspect", "--format", "{{json .}}", await world.containerOf(instanceId)));
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => "started").catch((error: Failure) => error.code);
}

describe("DockerRuntime: how a service differs from its image", () => {
  test("start() overrides or clears the entrypoint and command of an image", async () => {
    await using world = await dockerServices();
    const furnished = { image: await tinyImage("furnished") };
    const code = async (container: Partial<ContainerSpec>) =>
      (await outcomeOf(world, serviceRequest(furnished, null, { container }))).code;
    // The image's entrypoint is a shell that expects one argument.
    expect(await code({ command: [] })).toBe(2);
    expect(await code({ command: ["exit 7"] })).toBe(7);
    expect(await code({ entrypoint: [], command: ["sh", "-c", "exit 8"] })).toBe(8);
    expect(await code({ entrypoint: ["true"] })).toBe(0);
  });

  test.concurrent.each([
    ["command", { command: ["sh", "-c", SHOWING, "x", ...HOSTILE] }],
    ["entrypoint and command", { entrypoint: ["sh", "-c", SHOWING, "x"], command: HOSTILE }],
  ])("start() passes on the arguments of %s unchanged", async (_, container) => {
    await using world = await dockerServices();
    const { lines } = await outcomeOf(world, serviceRequest(world, null, { container }));
    expect(lines).toEqual(HOSTILE.map(hex));
  });

  test.concurrent("start() applies every container setting, and no slipway labels from outside", async () => {
    await using world = await dockerServices();
    const container = {
      workingDir: "/srv",
      user: "1000:1000",
      hostname: "own-name",
      labels: { "com.example": "kept", "slipway.instance": "x", "slipway.scope": "x", "Slipway.other": "x" },
      extraHosts: ["upstream:10.1.2.3"],
      stopSignal: "SIGUSR2",
      stopGraceMs: 2_500,
      init: false,
      readOnly: true,
      dropCapabilities: ["CHOWN", "NET_RAW"],
      limits: {
        cpus: 0.25,
        memoryBytes: 100_000_000,
        processes: 50,
        sharedMemoryBytes: 1_048_576,
        openFiles: { soft: 100, hard: 200 },
      },
    };
    const request = serviceRequest(world, world.programs.working, { container, memoryBytes: 200_000_000 });
    await world.runtime.start(request);
    const { Config, HostConfig } = await inspected(world, request.instanceId);
    expect(Config).toMatchObject({
      WorkingDir: "/srv",
      User: "1000:1000",
      Hostname: "own-name",
      StopSignal: "SIGUSR2",
      StopTimeout: 3,
    });
    expect(Config.Labels).toMatchObject({
      "com.example": "kept",
      "slipway.instance": request.instanceId,
      "slipway.scope": "prj_1",
    });
    expect(Config.Labels).not.toHaveProperty("Slipway.other");
    expect(HostConfig).toMatchObject({
      ExtraHosts: ["upstream:10.1.2.3"],
      Init: false,
      ReadonlyRootfs: true,
      CapDrop: ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SETPCAP", "CHOWN"],
      NanoCpus: 250_000_000,
      Memory: 100_000_000,
      PidsLimit: 50,
      ShmSize: 1_048_576,
      Ulimits: [{ Name: "nofile", Soft: 100, Hard: 200 }],
      PortBindings: {},
    });
  });

  test.concurrent("remove() waits for the service's own grace period, and uses its own signal", async () => {
    await using world = await dockerServices();
    const mounts = [{ kind: "volume", name: "data", target: "/data", readOnly: false }] as const;
    const command = "trap 'sleep 1; echo bye >/data/word; exit 0' USR2; echo ready; while :; do sleep 0.05; done";
    const container = { stopSignal: "SIGUSR2", stopGraceMs: 20_000 };
    const request = serviceRequest(world, command, { mounts, container });
    await world.runtime.start(request);
    await eventually(
      () => world.runtime.output(request.instanceId, { since: 0, limit: 1 }),
      ({ length }) => length === 1,
    );
    await world.runtime.remove(request.instanceId, GRACE);
    expect((await outcomeOf(world, serviceRequest(world, "cat /data/word", { mounts }))).lines).toEqual(["bye"]);
  });
});

describe("DockerRuntime: the files of a service", () => {
  const files: readonly ServiceFile[] = [
    { target: "/run/secrets/key", content: "se\ncret", mode: 0o400, uid: 1_000, gid: 3_000_000 },
    { target: "/etc/app/app.conf", content: "", mode: 0o644, uid: 0, gid: 0 },
    { target: "/tmp/over/it", content: "ü", mode: 0o600, uid: 0, gid: 0 },
  ];
  const look = files.map(({ target }) => `stat -c '%a %u %g' ${target}; od -An -v -tx1 ${target}`).join("; ");
  const seen = ["400 1000 3000000", " 73 65 0a 63 72 65 74", "644 0 0", "600 0 0", " c3 bc"];

  test("start() leaves nothing of them when it fails, and remove() removes what a killed server left", async () => {
    const passed: string[] = [];
    await using engine = await faultyEngine(({ method, path }) => {
      if (method === "DELETE") return "cannot be removed now";
      return path === "/containers/create" && passed.push(path) === 2 ? "no space left" : undefined;
    });
    await using world = await dockerServices();
    const request = serviceRequest(world, look, { container: { readOnly: true, files } });
    const own = ["--quiet", "--filter", `label=slipway.installation=${world.installation}`];
    const left = () => Promise.all([world.docker("volume", "ls", ...own), world.docker("ps", "--all", ...own)]);
    const bad = { ...request, runs: { ...request.runs, mounts: [missing] } };
    expect(await codeOf(world.runtime.start(bad))).toBe("path_missing");
    expect(await left()).toEqual(["", ""]);
    const dying = world.another(engine.host);
    expect(await codeOf(dying.start(request))).toBe("engine_refused");
    expect((await left()).every((ids) => ids !== "")).toBe(true);
    await world.runtime.remove(request.instanceId, GRACE);
    expect(await left()).toEqual(["", ""]);
  });

  test.concurrent.each([
    ["a container", {}, []],
    ["a container that is read-only", { readOnly: true }, []],
    ["a container with something mounted there", {}, [{ kind: "memory", target: "/tmp/over/", bytes: 1_000_000 }]],
    ["a read-only one with something mounted", { readOnly: true }, [{ kind: "memory", target: "/tmp", bytes: null }]],
  ] as const)(
    "start() puts them into %s before its program runs, and remove() removes them",
    async (_, given, mounts) => {
      await using world = await dockerServices();
      const request = serviceRequest(world, look, { container: { ...given, files }, mounts });
      expect((await outcomeOf(world, request)).lines).toEqual(seen);
      await world.runtime.remove(request.instanceId, GRACE);
      const own = ["--quiet", "--filter", `label=slipway.installation=${world.installation}`];
      expect(await world.docker("volume", "ls", ...own)).toBe("");
      expect(await world.docker("ps", "--all", ...own)).toBe("");
    },
  );
});

test("a file inside a volume of an image is not stored in the volume", async () => {
  await using world = await dockerServices();
  const furnished = { image: await tinyImage("furnished") };
  const look = "cat /data/key; echo; echo more >/data/own";
  for (const content of ["first", "second"]) {
    const files = [{ target: "/data/key", content, mode: 0o400, uid: 0, gid: 0 }];
    const request = serviceRequest(furnished, look, { service: "db", container: { files } });
    expect((await outcomeOf(world, request)).lines).toEqual([content]);
    await world.runtime.remove(request.instanceId, GRACE);
  }
  const without = serviceRequest(furnished, "wc -c </data/key; cat /data/own", { service: "db" });
  expect((await outcomeOf(world, without)).lines).toEqual(["0", "more"]);
});

describe("DockerRuntime: what is mounted", () => {
  test.concurrent("a volume is shared in its scope only, outlives its writer, and can be read-only", async () => {
    await using world = await dockerServices();
    const run = (command: string, scope: string, readOnly = false) =>
      outcomeOf(world, serviceRequest(world, command, { scope, mounts: volume(readOnly) }));
    const written = serviceRequest(world, "echo data >/kept/file", { mounts: volume() });
    await outcomeOf(world, written);
    await world.runtime.remove(written.instanceId, GRACE);
    expect((await run("cat /kept/file", "prj_1")).lines).toEqual(["data"]);
    expect((await run("ls /kept", "prj_2")).lines).toEqual([]);
    expect((await run("echo x >/kept/file", "prj_1", true)).code).toBe(1);
    const name = await world.engineName({ scope: "prj_1", name: "data" });
    const labels = JSON.parse(await world.docker("volume", "inspect", "--format", "{{json .Labels}}", name));
    expect(labels).toMatchObject({
      "slipway.installation": world.installation,
      "slipway.scope": "prj_1",
      "slipway.volume": "data",
    });
  });

  test.concurrent("a volume of an image is kept by the scope, unless something is mounted there", async () => {
    await using world = await dockerServices();
    const furnished = { image: await tinyImage("furnished") };
    for (const [command, lines] of [
      ["echo 1 >>/data/file", []],
      ["echo 2 >>/data/file; cat /data/file", ["1", "2"]],
    ] as const) {
      const request = serviceRequest(furnished, command, { service: "db" });
      expect((await outcomeOf(world, request)).lines).toEqual([...lines]);
      await world.runtime.remove(request.instanceId, GRACE);
    }
    expect(await world.volumes.list("prj_1")).toEqual([{ scope: "prj_1", name: "db:/data" }]);
    const mounts = [{ kind: "memory", target: "/data/", bytes: null }] as const;
    const { lines } = await outcomeOf(world, serviceRequest(furnished, "ls /data", { service: "other", mounts }));
    expect(lines).toEqual([]);
    expect(await world.volumes.list("prj_1")).toHaveLength(1);
  });

  test.concurrent("a path of this machine has to exist, and is not created", async () => {
    await using world = await dockerServices();
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    await writeFile(join(folder, "file"), "from outside\n");
    const mounts = [{ kind: "path", path: folder, target: "/outside", readOnly: true }] as const;
    const command = "cat /outside/file; touch /outside/made";
    expect(await outcomeOf(world, serviceRequest(world, command, { mounts }))).toMatchObject({ code: 1 });
    expect((await outcomeOf(world, serviceRequest(world, "cat /outside/file", { mounts }))).lines).toEqual([
      "from outside",
    ]);
    await rm(folder, { recursive: true });
    const start = (given: Parameters<typeof serviceRequest>[2]) =>
      codeOf(world.runtime.start(serviceRequest(world, world.programs.working, given)));
    expect(await start({ mounts: [missing] })).toBe("path_missing");
    expect(existsSync(missing.path)).toBe(false);
    expect(await world.runtime.list()).toHaveLength(2);
  });

  test.concurrent("a volume of another installation is refused", async () => {
    await using world = await dockerServices();
    await using neighbour = await dockerServices();
    await neighbour.runtime.start(serviceRequest(neighbour, neighbour.programs.working, { mounts: volume() }));
    const name = await neighbour.engineName({ scope: "prj_1", name: "data" });
    const mounts = [{ kind: "external", name, target: "/kept", readOnly: true }] as const;
    expect(await codeOf(world.runtime.start(serviceRequest(world, "true", { mounts })))).toBe("volume_foreign");
    await world.volumes.remove("prj_1");
    expect(await neighbour.volumes.list("prj_1")).toHaveLength(1);
  });
});
